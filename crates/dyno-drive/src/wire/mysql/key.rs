//! The server's public key, which encrypts a password for a connection that others can read.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use dyno_record::{Error, ErrorKind, Result};
use mysql_common::crypto::der::{PubKeyFileType, parse_pub_key};
use mysql_common::crypto::rsa::{GetRandom, Pkcs1OaepPadding, PublicKey};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject as _;
use x509_cert::der::asn1::UintRef;
use x509_cert::der::oid::db::rfc5912::RSA_ENCRYPTION;
use x509_cert::der::{Decode as _, Reader as _, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoRef;

use super::packet::broken;

/// Maximum bytes of a PEM file; the largest supported key has less than 3,000.
const LONGEST: usize = 8 << 10;
/// Bytes of a modulus: 1024 to 16384 bits. Servers generate 2048.
const MODULUS: RangeInclusive<usize> = 128..=2048;
/// Maximum bytes of an exponent. The usual one, 65537, has three.
const LONGEST_EXPONENT: usize = 4;
/// Bytes that OAEP with SHA-1 adds.
const PADDING: usize = 42;
/// First line of the file (RFC 7468, section 13).
const BEGIN: &[u8] = b"-----BEGIN PUBLIC KEY-----";

/// An RSA public key.
#[derive(Debug)]
pub struct Key {
    key: PublicKey,
    /// Bytes of its modulus, and of its output.
    length: usize,
}

impl Key {
    /// Parses a key as `SubjectPublicKeyInfo` in PEM (RFC 5280, section 4.1, and RFC 8017, appendix
    /// A.1.1) and nothing else. None if it is not such a key, or is invalid or unsafe.
    pub fn parse(pem: &[u8]) -> Option<Self> {
        if pem.len() > LONGEST || !pem.trim_ascii_start().starts_with(BEGIN) {
            return None;
        }
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
        let length = modulus(der.as_ref())?;
        // The library does not check what the code above has checked.
        let (modulus, exponent) = parse_pub_key(der.as_ref(), PubKeyFileType::Pkcs8);
        Some(Self { key: PublicKey::new(modulus, exponent), length })
    }

    /// Reads the key in a file.
    ///
    /// # Errors
    /// `usage` if the file cannot be read or has no key.
    pub fn read(file: &Path) -> Result<Self> {
        let wrong =
            |why: String| Error::new(ErrorKind::Usage, format!("{}: {why}", file.display()));
        let pem = fs::read(file).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&pem).ok_or_else(|| {
            wrong("not an RSA public key; the server's own is its public_key.pem".to_owned())
        })
    }

    /// Encrypts the password for the server, bound to its `nonce`.
    ///
    /// # Errors
    /// `protocol` if it is too long for the key, or the nonce is empty.
    pub fn encrypt(&self, nonce: &[u8], password: &[u8]) -> Result<Vec<u8>> {
        let nonce = &nonce[..nonce.len().min(20)];
        if nonce.is_empty() || self.length < password.len() + 1 + PADDING {
            return Err(broken("a public key too short for the password, or an empty nonce"));
        }
        let mut text = [password, b"\0"].concat();
        for (byte, mask) in text.iter_mut().zip(nonce.iter().cycle()) {
            *byte ^= mask;
        }
        Ok(self.key.encrypt_block(&text, Pkcs1OaepPadding::new(GetRandom)))
    }
}

/// Bytes of the modulus of a DER key, if the key is valid.
fn modulus(der: &[u8]) -> Option<usize> {
    let info = SubjectPublicKeyInfoRef::from_der(der).ok()?;
    let mut key = SliceReader::new(info.subject_public_key.as_bytes()?).ok()?;
    let numbers = key.sequence(|key| Ok((UintRef::decode(key)?, UintRef::decode(key)?))).ok()?;
    let (modulus, exponent) = (numbers.0.as_bytes(), numbers.1.as_bytes());
    let is_odd = |number: &[u8]| number.last().is_some_and(|byte| byte & 1 == 1);
    let sound = info.algorithm.oid == RSA_ENCRYPTION
        && key.is_finished()
        && MODULUS.contains(&modulus.len())
        && modulus[0] & 0x80 != 0
        && is_odd(modulus)
        && exponent.len() <= LONGEST_EXPONENT
        && is_odd(exponent)
        && exponent != [1];
    sound.then_some(modulus.len())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert, proptest};

    const NONCE: &[u8] = b"12345678901234567890\0";

    /// 2048 bits, generated for this test by `openssl genrsa`; the private key is discarded.
    pub const KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAnkt3Uk7UH1vJEnSGAk9Z\n\
        4WbsyLmFYvJh47M+VCVqlXnVh8kPBNx1FjRkIFQUZHNKuPCB6VG03vT4JY6JQ1c6\n\
        H7oLIkzkvwltCPupGHE8S8GpT5EQ6QSgTt4qqDGGml1lT1wTkDrH6K7EUChEeUKN\n\
        +rNMqoWnaabU3P18w5TbfOQ95ZyjeayH7HSpqGlDIYNxfvlxdm2w2rZ6xw54KZYI\n\
        kL3udl7U4TlefRr99XO6fstK7LNoxlNqYt+2SWI5+fH09QhzeigIOE33XkTnM0fq\n\
        qGTpQfd1YDI/jvQDXGAo9wXDvB73svzF4bqDG9wHLC4+u7F3t+3S9P684F+Xgiyl\n\
        kwIDAQAB\n\
        -----END PUBLIC KEY-----\n";

    /// 512 bits: can be broken in a day.
    const SHORT: &str = "-----BEGIN PUBLIC KEY-----\n\
        MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBANPg5WoFkTEJl88Gn/PrVD4jSnaoBXOB\n\
        TVVrY4x4YsiXqvMrHzMbLKCbRQtNZQ8pP1iMtQ0FHsd9ij2+w4h6B80CAwEAAQ==\n\
        -----END PUBLIC KEY-----\n";

    /// An elliptic-curve key.
    const CURVED: &str = "-----BEGIN PUBLIC KEY-----\n\
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEmY6RL51BDT8RDUw2ALReCavNOGbk\n\
        0DTVkwz6Awu49TkRxgPmqFB3y28Xp8YKywzs51xpmxM2Bv3UocCTuf0wbQ==\n\
        -----END PUBLIC KEY-----\n";

    #[test]
    fn a_password_is_encrypted_anew_each_time() {
        let key = Key::parse(KEY.as_bytes()).unwrap();
        let once = key.encrypt(NONCE, b"secret").unwrap();
        assert_eq!(once.len(), 256);
        assert_ne!(once, key.encrypt(NONCE, b"secret").unwrap());
        for (nonce, length) in [(NONCE, 214), (&b""[..], 6)] {
            let error = key.encrypt(nonce, &vec![b'x'; length]).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Protocol);
        }
    }

    #[test]
    fn what_is_no_key_to_rely_on_is_refused() {
        let cut = KEY.replace("MIIB", "MIIC");
        // Exponents 1 and 65536.
        let (one, even) = (KEY.replace("kwIDAQAB", "kwIDAAAB"), KEY.replace("AQAB", "AQAA"));
        let another = KEY.replace("PUBLIC", "RSA PUBLIC");
        let hidden = format!("-----BEGIN RSA PUBLIC KEY-----\nAAAA\n{KEY}");
        let endless = format!("{KEY}{}", " ".repeat(LONGEST));
        for wrong in ["no key", "", SHORT, CURVED, &cut, &one, &even, &another, &hidden, &endless] {
            assert!(Key::parse(wrong.as_bytes()).is_none(), "{wrong:.80}");
        }
        assert!(Key::parse(format!("\n{KEY}\0").as_bytes()).is_some());
    }

    #[test]
    fn a_file_without_a_key_is_a_wrong_use() {
        for file in ["/nowhere/key.pem", "/dev/null"] {
            let error = Key::read(Path::new(file)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage);
            assert!(error.message.contains(file), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = modulus(&bytes);
            let _ = Key::parse(&bytes);
        }

        #[test]
        fn a_key_that_was_altered_panics_nowhere(at in 27usize..400, byte in any::<u8>()) {
            let mut pem = KEY.as_bytes().to_vec();
            let at = at.min(pem.len() - 1);
            pem[at] = byte;
            if let Some(key) = Key::parse(&pem) {
                prop_assert!(key.encrypt(NONCE, b"secret").is_ok());
            }
        }
    }
}

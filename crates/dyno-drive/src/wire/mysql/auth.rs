//! How a user proves who they are, by the server's plugin.

use dyno_record::{Error, ErrorKind, Result};
use mysql_common::crypto::encrypt;
use mysql_common::scramble::{create_response_for_ed25519, scramble_native, scramble_sha256};

use super::packet::broken;

/// MySQL's own before 8.0, and MariaDB's.
pub const NATIVE: &str = "mysql_native_password";
/// MySQL's from 8.0 on.
pub const SHA2: &str = "caching_sha2_password";
/// MariaDB's with elliptic curves.
const ED25519: &str = "client_ed25519";

/// A plugin that Dyno knows, of the same name; None if it knows none.
pub fn known(plugin: &str) -> Option<&'static str> {
    [NATIVE, SHA2, ED25519].into_iter().find(|known| *known == plugin)
}

/// The proof that the user knows `password`, bound to the server's `nonce`. An empty password is
/// proved by silence.
///
/// # Errors
/// `denied` for a plugin that Dyno does not know.
pub fn proof(plugin: &str, nonce: &[u8], password: &[u8]) -> Result<Vec<u8>> {
    // A zero that ends it does not belong to it.
    let first = |count: usize| &nonce[..nonce.len().min(count)];
    match known(plugin) {
        Some(NATIVE) => Ok(scramble_native(first(20), password).map(Vec::from).unwrap_or_default()),
        Some(SHA2) => Ok(scramble_sha256(first(20), password).map(Vec::from).unwrap_or_default()),
        Some(ED25519) => Ok(create_response_for_ed25519(password, first(32)).to_vec()),
        _ => Err(Error::new(
            ErrorKind::Denied,
            format!(
                "the server asks for authentication by {plugin}; Dyno knows {NATIVE}, {SHA2} and \
                 ed25519"
            ),
        )),
    }
}

/// The password for the server's eyes only, by its public `key` in PEM, bound to its `nonce`.
///
/// # Errors
/// `protocol` if the key is none of RSA's.
pub fn encrypted(key: &[u8], nonce: &[u8], password: &[u8]) -> Result<Vec<u8>> {
    let nonce = &nonce[..nonce.len().min(20)];
    let length = password.len() + 1;
    // The library takes for granted that the key is one, and long enough.
    if modulus(key).is_none_or(|modulus| modulus < length + PADDING) || nonce.is_empty() {
        return Err(broken("a public key that is none, or too short for the password"));
    }
    let mut text = [password, b"\0"].concat();
    for (byte, mask) in text.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= mask;
    }
    Ok(encrypt(&text, key))
}

/// Bytes that OAEP with SHA-1 adds.
const PADDING: usize = 42;

/// Bytes of the modulus of an RSA key as `SubjectPublicKeyInfo` in PEM (RFC 5280, section 4.1, and
/// RFC 8017, appendix A.1.1).
fn modulus(pem: &[u8]) -> Option<usize> {
    use rustls::pki_types::SubjectPublicKeyInfoDer;
    use rustls::pki_types::pem::PemObject as _;

    let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
    let (info, _) = element(der.as_ref(), 0x30)?;
    let (_, info) = element(info, 0x30)?;
    let (bits, _) = element(info, 0x03)?;
    let (key, _) = element(bits.strip_prefix(b"\0")?, 0x30)?;
    let (modulus, key) = element(key, 0x02)?;
    let (exponent, _) = element(key, 0x02)?;
    // An integer whose highest bit is set has a zero before it.
    let modulus = modulus.strip_prefix(b"\0").unwrap_or(modulus);
    (modulus.first()? & 0x80 != 0 && !exponent.is_empty()).then_some(modulus.len())
}

/// The content of the DER element at the start of `der`, which has to be of type `tag`, and what
/// follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match der.strip_prefix(&[tag])? {
        [0x82, a, b, rest @ ..] => (usize::from(u16::from_be_bytes([*a, *b])), rest),
        [0x81, a, rest @ ..] | [a @ ..=0x7F, rest @ ..] => (usize::from(*a), rest),
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    const NONCE: &[u8] = b"12345678901234567890\0";

    /// 1024 bits, made for this test by `openssl genrsa`, its other half thrown away.
    const KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDPbchT3kG4nhFYv4N8ZNDGOlPN\n\
        D4U6vUdLr/qsxmXtNVfLImPDp0DdZPxoC8pRlIMhULpCaf7Pn+npJhRIue9M8cPi\n\
        cVgPJKpN+KbF/Ly01svgcXR8puMtZ0pI+r1LxPiHxp50o2E1b0U/ZLv2JfnujZAs\n\
        PhPk23QQCUXoiOKKpQIDAQAB\n\
        -----END PUBLIC KEY-----\n";

    #[test]
    fn proofs_are_of_the_plugins_lengths_and_empty_without_a_password() {
        assert_eq!(proof(NATIVE, NONCE, b"secret").unwrap().len(), 20);
        assert_eq!(proof(SHA2, NONCE, b"secret").unwrap().len(), 32);
        assert_eq!(proof(ED25519, &[7; 32], b"secret").unwrap().len(), 64);
        assert_eq!(proof(NATIVE, NONCE, b"").unwrap(), b"");
        assert_eq!(proof(SHA2, NONCE, b"").unwrap(), b"");
        let error = proof("dialog", NONCE, b"secret").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied);
        assert!(error.message.contains("dialog") && !error.message.contains("secret"), "{error}");
    }

    #[test]
    fn a_password_is_encrypted_by_a_key_that_is_long_enough() {
        assert_eq!(encrypted(KEY.as_bytes(), NONCE, b"secret").unwrap().len(), 128);
        for (key, password) in [("no key", "secret"), (KEY, &"x".repeat(100)[..])] {
            let error = encrypted(key.as_bytes(), NONCE, password.as_bytes()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Protocol);
        }
        let cut = KEY.replace("MIGf", "MIGe");
        assert_eq!(encrypted(cut.as_bytes(), NONCE, b"x").unwrap_err().kind, ErrorKind::Protocol);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = element(&bytes, 0x30);
            let _ = modulus(&bytes);
        }
    }
}

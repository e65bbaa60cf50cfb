//! What comes before the login: whether the connection is encrypted (MS-TDS, 2.2.6.5).

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::packet::broken;

// Options.
const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const END: u8 = 0xFF;

// Whether to encrypt.
const ON: u8 = 1;
const NOT_SUPPORTED: u8 = 2;
const REQUIRED: u8 = 3;

/// The version of this client, which servers ignore.
const CLIENT: [u8; 6] = [1, 0, 0, 0, 0, 0];

/// Appends the request's body.
pub fn put_request(tls: bool, out: &mut BytesMut) {
    let encryption = if tls { ON } else { NOT_SUPPORTED };
    let options: [(u8, &[u8]); 2] = [(VERSION, &CLIENT), (ENCRYPTION, &[encryption])];
    let mut offset = options.len() as u16 * 5 + 1;
    for (option, value) in options {
        out.put_u8(option);
        out.put_u16(offset);
        out.put_u16(value.len() as u16);
        offset += value.len() as u16;
    }
    out.put_u8(END);
    for (_, value) in options {
        out.put_slice(value);
    }
}

/// Checks the server's answer.
///
/// # Errors
/// `unreachable` if the two do not agree on TLS; `protocol` if it is not an answer.
pub fn check(answer: &[u8], tls: bool) -> Result<()> {
    let found = option(answer, ENCRYPTION);
    let encryption = found.ok_or_else(|| broken("no answer about encryption"))?;
    let message = match (tls, encryption) {
        (true, ON | REQUIRED) | (false, 0 | NOT_SUPPORTED) => return Ok(()),
        (true, _) => {
            "the server does not offer TLS; install a certificate there, or connect \
                      without it (encrypt=off)"
        }
        (false, _) => "the server requires TLS: connect with encrypt=on",
    };
    Err(Error::new(ErrorKind::Unreachable, message))
}

/// The first byte of an option.
fn option(answer: &[u8], wanted: u8) -> Option<u8> {
    let heads = answer.chunks_exact(5).take_while(|head| head[0] != END);
    let found = heads.into_iter().find(|head| head[0] == wanted && head[3..] != [0, 0])?;
    answer.get(usize::from(u16::from_be_bytes([found[1], found[2]]))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    fn answered(encryption: u8, tls: bool) -> Result<()> {
        let mut bytes = BytesMut::new();
        put_request(true, &mut bytes);
        let last = bytes.len() - 1;
        bytes[last] = encryption;
        check(&bytes, tls)
    }

    #[test]
    fn the_request_is_as_the_protocol_describes_it() {
        let mut bytes = BytesMut::new();
        put_request(false, &mut bytes);
        let heads = [0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF];
        assert_eq!(bytes[..], [&heads[..], &CLIENT, &[2]].concat());
    }

    #[test]
    fn both_must_agree_on_tls() {
        for (encryption, tls) in [(ON, true), (REQUIRED, true), (0, false), (NOT_SUPPORTED, false)]
        {
            answered(encryption, tls).unwrap();
        }
        for (encryption, tls) in [(0, true), (NOT_SUPPORTED, true), (ON, false), (REQUIRED, false)]
        {
            assert_eq!(answered(encryption, tls).unwrap_err().kind, ErrorKind::Unreachable);
        }
        assert_eq!(check(&[END], true).unwrap_err().kind, ErrorKind::Protocol);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = check(&bytes, true);
        }
    }
}

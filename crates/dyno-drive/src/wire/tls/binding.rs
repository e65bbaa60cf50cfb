//! Binds a login to its TLS connection.

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::oid::db::rfc5912;

/// The channel binding `tls-server-end-point` (RFC 5929, section 4.1) of a server's certificate:
/// its hash by the signature's hash function, or by SHA-256 instead of MD5 and SHA-1. None if the
/// signature names no such function.
pub fn server_end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let parsed = Certificate::from_der(certificate).ok()?;
    let function = function(parsed.signature_algorithm.oid)?;
    Some(digest(function, certificate).as_ref().to_vec())
}

fn function(signature: ObjectIdentifier) -> Option<&'static Algorithm> {
    match signature {
        rfc5912::MD_5_WITH_RSA_ENCRYPTION
        | rfc5912::SHA_1_WITH_RSA_ENCRYPTION
        | rfc5912::SHA_256_WITH_RSA_ENCRYPTION
        | rfc5912::ECDSA_WITH_SHA_256 => Some(&SHA256),
        rfc5912::SHA_384_WITH_RSA_ENCRYPTION | rfc5912::ECDSA_WITH_SHA_384 => Some(&SHA384),
        rfc5912::SHA_512_WITH_RSA_ENCRYPTION | rfc5912::ECDSA_WITH_SHA_512 => Some(&SHA512),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_functions_are_replaced_and_those_without_one_are_none() {
        assert_eq!(function(rfc5912::SHA_1_WITH_RSA_ENCRYPTION), Some(&SHA256));
        assert_eq!(function(rfc5912::ECDSA_WITH_SHA_384), Some(&SHA384));
        let ed25519 = ObjectIdentifier::new_unwrap("1.3.101.112");
        assert_eq!(function(ed25519), None);
        assert_eq!(server_end_point(b"no certificate"), None);
    }
}

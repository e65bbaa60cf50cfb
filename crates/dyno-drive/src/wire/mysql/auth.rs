//! Authentication by the server's plugins.

use dyno_record::{Error, ErrorKind, Result};
use mysql_common::scramble::{create_response_for_ed25519, scramble_native, scramble_sha256};

/// Default of MySQL before 8.0 and of MariaDB.
pub const NATIVE: &str = "mysql_native_password";
/// Default of MySQL from 8.0.
pub const SHA2: &str = "caching_sha2_password";
/// MariaDB's plugin with elliptic curves.
const ED25519: &str = "client_ed25519";

/// The supported plugin with this name, if any.
pub fn known(plugin: &str) -> Option<&'static str> {
    [NATIVE, SHA2, ED25519].into_iter().find(|known| *known == plugin)
}

/// The proof that the user knows `password`, bound to the server's `nonce`. For an empty password
/// it is empty.
///
/// # Errors
/// `denied` for an unsupported plugin.
pub fn proof(plugin: &str, nonce: &[u8], password: &[u8]) -> Result<Vec<u8>> {
    // Ignore a trailing zero.
    let first = |count: usize| &nonce[..nonce.len().min(count)];
    match known(plugin) {
        Some(NATIVE) => Ok(scramble_native(first(20), password).map(Vec::from).unwrap_or_default()),
        Some(SHA2) => Ok(scramble_sha256(first(20), password).map(Vec::from).unwrap_or_default()),
        Some(ED25519) => Ok(create_response_for_ed25519(password, first(32)).to_vec()),
        _ => Err(Error::new(
            ErrorKind::Denied,
            format!(
                "the server requires authentication by {plugin}; Dyno supports {NATIVE}, {SHA2} \
                 and ed25519"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8] = b"12345678901234567890\0";

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
}

//! Reads certificates and keys from files.

use std::path::Path;

use dyno_record::{Error, ErrorKind, Result};
use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Stands for the authorities that this machine trusts, instead of a file.
const SYSTEM: &str = "system";

/// The authorities in `ca`, or those of this machine.
///
/// # Errors
/// `usage` if there are none.
pub fn authorities(ca: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    if ca == Path::new(SYSTEM) {
        // Unreadable system certificates do not matter if others are readable.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(wrong(
                "this machine has no trusted authorities: specify a CA file".to_owned(),
            ));
        }
        return Ok(roots);
    }
    for certificate in certificates(ca)? {
        roots.add(certificate).map_err(|error| {
            wrong(format!("a certificate in {} is not a valid authority: {error}", ca.display()))
        })?;
    }
    Ok(roots)
}

/// All certificates of a file, in order.
///
/// # Errors
/// `usage` if there are none.
pub fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(none(file, "certificate")),
        Ok(found) => Ok(found),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// The first key of a file.
///
/// # Errors
/// `usage` if there is none.
pub fn key(file: &Path) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| match error {
        pem::Error::NoItemsFound => none(file, "key without a passphrase"),
        other => unreadable(file, &other),
    })
}

fn none(file: &Path, what: &str) -> Error {
    wrong(format!("{} contains no {what} in PEM", file.display()))
}

fn unreadable(file: &Path, error: &pem::Error) -> Error {
    let told = match error {
        pem::Error::Io(error) => error.to_string(),
        // The library's message may include a line of the file.
        _ => "it is not PEM".to_owned(),
    };
    wrong(format!("cannot read {}: {told}", file.display()))
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pem_is_named_and_not_shown() {
        let folder = std::env::temp_dir().join(format!("dyno-pem-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("some.pem");
        let secret = "MC4CAQAwBQYDK2VwBCIEIA";
        let broken = format!("-----BEGIN PRIVATE KEY-----\n{secret}\n-----END\n");
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n\
                         -----END ENCRYPTED PRIVATE KEY-----\n";
        for text in ["", "nothing", &broken, encrypted] {
            std::fs::write(&file, text).unwrap();
            for error in [authorities(&file).unwrap_err(), key(&file).unwrap_err()] {
                assert_eq!(error.kind, ErrorKind::Usage);
                assert!(error.message.contains("some.pem"), "{error}");
                assert!(!error.message.contains(secret), "{error}");
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(certificates(&file).unwrap_err().message.contains("No such file"));
    }
}

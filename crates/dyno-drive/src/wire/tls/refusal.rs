//! Explains TLS failures, with advice.

use std::io;

use rustls::{CertificateError, Error};

/// The TLS library's error inside an I/O error, if it is one.
pub fn of_io(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

/// The problem of a handshake and its solution, as [`told`].
pub fn told_of_handshake(error: &io::Error, ca: &str) -> String {
    match (of_io(error), error.kind()) {
        (Some(error), _) => told(error, ca),
        (None, io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            "the server closed the connection; it may offer no cipher suite in common: Dyno needs \
             TLS 1.2 with ECDHE and AES-GCM or ChaCha20-Poly1305, or TLS 1.3"
                .to_owned()
        }
        (None, _) => error.to_string(),
    }
}

/// The problem and its solution; `ca` is the URL's name for the file of authorities.
pub fn told(error: &Error, ca: &str) -> String {
    match error {
        Error::InvalidCertificate(reason) => certificate(reason, ca),
        Error::AlertReceived(alert) => format!(
            "the server ended it ({alert:?}); it may require another client certificate, or none"
        ),
        Error::InvalidMessage(_) => format!("the server does not speak TLS ({error})"),
        other => other.to_string(),
    }
}

fn certificate(reason: &CertificateError, ca: &str) -> String {
    match reason {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
            "no trusted authority signed the server's certificate; the URL's {ca} must be the \
             authority that signed it"
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired; renew it on the server".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet; compare the clocks of both machines"
                .to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names = match &presented[..] {
                [] => "names no host".to_owned(),
                names => format!("is only for {}", names.join(", ")),
            };
            format!(
                "the server's certificate is not valid for name {}, it {names}; use the \
                 certificate's host name in the URL",
                expected.to_str()
            )
        }
        other => {
            // The library exposes these only by name.
            let name = format!("{other:?}");
            if name.contains("CaUsedAsEndEntity") {
                format!(
                    "the server's certificate is an authority certificate (CA:TRUE), which Dyno \
                     rejects although OpenSSL accepts it; use it to sign a server \
                     certificate (CA:FALSE), and set the authority as the URL's {ca}"
                )
            } else if name.contains("UnsupportedCertVersion") {
                "the server's certificate is X.509 version 1, which Dyno rejects although \
                 OpenSSL accepts it; create one of version 3, with a subjectAltName"
                    .to_owned()
            } else {
                format!("the server's certificate is rejected: {other}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::ServerName;

    #[test]
    fn advice_names_what_the_user_can_change() {
        let said = |reason| told(&Error::InvalidCertificate(reason), "sslrootcert");
        assert!(said(CertificateError::UnknownIssuer).contains("URL's sslrootcert must be"));
        assert!(said(CertificateError::Expired).contains("renew"));
        let expected = ServerName::try_from("db1").unwrap();
        let elsewhere = CertificateError::NotValidForNameContext {
            expected,
            presented: vec!["DnsName(\"db2\")".to_owned()],
        };
        assert!(
            said(elsewhere).contains("not valid for name db1, it is only for DnsName(\"db2\")")
        );
    }
}

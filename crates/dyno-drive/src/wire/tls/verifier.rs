//! Whether a server is whom it should be.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use x509_cert::der::{Decode as _, Encode as _};

/// Checks a server's certificate as far as is asked; that it has the key to it always.
#[derive(Debug)]
pub struct Verifier {
    /// Who may have signed it; anybody if absent.
    pub roots: Option<RootCertStore>,
    /// Whether it must be for the host.
    pub check_host: bool,
    pub algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.roots {
            let parsed = ParsedCertificate::try_from(end_entity)?;
            let algorithms = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &parsed,
                roots,
                intermediates,
                now,
                algorithms,
            )?;
            if self.check_host {
                verify_server_name(&parsed, server_name)
                    .or_else(|error| by_common_name(error, end_entity, server_name))?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // rustls takes certificates of version 3 only, but where nobody is asked who signed it the
        // key is all that counts. Channel binding relies on this proof that the server has it.
        match Certificate::from_der(certificate) {
            Ok(parsed) if self.roots.is_none() => {
                let key = parsed.tbs_certificate.subject_public_key_info.to_der();
                let key = key.map_err(|_| CertificateError::BadEncoding)?;
                let key = SubjectPublicKeyInfoDer::from(key);
                verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
            }
            _ => verify_tls13_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// A certificate that names its host in the old way only, as PostgreSQL's manual makes them, is
/// taken as libpq takes it; wildcards are not.
fn by_common_name(
    error: Error,
    certificate: &CertificateDer<'_>,
    host: &ServerName<'_>,
) -> Result<(), Error> {
    let bare = match &error {
        Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            presented, ..
        }) => presented.is_empty(),
        _ => false,
    };
    let found = if bare { common_names(certificate) } else { Vec::new() };
    if found.iter().any(|name| name.eq_ignore_ascii_case(&host.to_str())) {
        return Ok(());
    }
    Err(error)
}

fn common_names(certificate: &[u8]) -> Vec<String> {
    let Ok(parsed) = Certificate::from_der(certificate) else { return Vec::new() };
    let parts = parsed.tbs_certificate.subject.0.iter().flat_map(|part| part.0.iter());
    parts
        .filter(|pair| pair.oid == COMMON_NAME)
        .filter_map(|pair| String::from_utf8(pair.value.value().to_vec()).ok())
        .collect()
}

//! Checks a server's certificate.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::{Certificate, Version};

use super::common_name::{self, Trust};

/// Checks a server's certificate as far as requested, and always that the server has its key.
#[derive(Debug)]
pub struct Verifier {
    /// Authorities that may have signed it; default: anyone.
    pub roots: Option<RootCertStore>,
    /// Whether it must match the host.
    pub check_host: bool,
    pub algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    /// A certificate that is reduced to its key if nothing else of it matters, because the signer
    /// is not checked: rustls reads only certificates of version 3, but not all servers have one.
    /// Channel binding relies on the proof that the server has the key.
    fn proven(&self, certificate: &CertificateDer<'_>) -> CertificateDer<'static> {
        let parsed = Certificate::from_der(certificate).ok().filter(|_| self.roots.is_none());
        let reduced = parsed.and_then(|mut parsed| {
            let content = &mut parsed.tbs_certificate;
            content.version = Version::V3;
            content.issuer_unique_id = None;
            content.subject_unique_id = None;
            content.extensions = None;
            parsed.to_der().ok()
        });
        reduced.map_or_else(|| certificate.clone().into_owned(), Into::into)
    }
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
                verify_server_name(&parsed, server_name).or_else(|refusal| {
                    let trust = Trust { roots, algorithms: &self.algorithms };
                    common_name::accept(refusal, trust, end_entity, intermediates, server_name, now)
                })?;
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
        verify_tls12_signature(message, &self.proven(certificate), signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, &self.proven(certificate), signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

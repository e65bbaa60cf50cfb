//! TLS for wires: rustls with ring, and the server checks that the plan requests.

mod binding;
mod common_name;
mod pem;
mod refusal;
mod verifier;

use std::fmt;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyno_record::{Error, ErrorKind, Result};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, SupportedProtocolVersion, version};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) use binding::server_end_point;
pub(crate) use refusal::{of_io, told};
use verifier::Verifier;

/// TLS settings. A server without TLS is refused.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The authorities that may have signed the server's certificate: a PEM file, or `system` for
    /// those that this machine trusts. Without it the connection is encrypted, but the server is
    /// not authenticated.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// Whether the certificate must also match the host.
    #[serde(default)]
    pub check_host: bool,
    /// The client's certificate in PEM, with intermediate certificates.
    #[serde(default)]
    pub cert: Option<PathBuf>,
    /// Its key in PEM, without a passphrase; default: in the certificate's file.
    #[serde(default)]
    pub key: Option<PathBuf>,
    /// Minimum version.
    #[serde(default)]
    pub oldest: Option<Version>,
    /// Maximum version.
    #[serde(default)]
    pub newest: Option<Version>,
}

/// A TLS version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Version {
    /// 1.2.
    #[serde(rename = "TLSv1.2")]
    V1_2,
    /// 1.3.
    #[serde(rename = "TLSv1.3")]
    V1_3,
}

/// Opens connections according to a [`Tls`]. Reads its files once; never shows the key.
#[derive(Clone)]
pub(crate) struct Connector {
    connector: TlsConnector,
    check_host: bool,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl Connector {
    /// Reads the files of `tls`, for connections with the protocol `protocol` (its ALPN name, if it
    /// has one).
    ///
    /// # Errors
    /// `usage` if a file cannot be read or lacks the expected content.
    pub fn new(tls: &Tls, protocol: Option<&str>) -> Result<Self> {
        if tls.check_host && tls.ca.is_none() {
            let message = "a certificate's host cannot be checked without trusted authorities";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let roots = tls.ca.as_deref().map(pem::authorities).transpose()?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&tls.versions())
            .map_err(|error| Error::new(ErrorKind::Usage, error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Verifier {
                roots,
                check_host: tls.check_host,
                algorithms,
            }));
        let mut config = match &tls.cert {
            None => builder.with_no_client_auth(),
            Some(cert) => {
                let key = tls.key.as_deref().unwrap_or(cert);
                let (chain, secret) = (pem::certificates(cert)?, pem::key(key)?);
                builder
                    .with_client_auth_cert(chain, secret)
                    .map_err(|error| unusable(cert, key, &error))?
            }
        };
        config.alpn_protocols = protocol.iter().map(|name| name.as_bytes().to_vec()).collect();
        // Every session does a full handshake, as with libpq.
        config.resumption = Resumption::disabled();
        Ok(Self { connector: Arc::new(config).into(), check_host: tls.check_host })
    }

    /// Performs the handshake over `stream` with the server named `host`.
    ///
    /// # Errors
    /// `unreachable` if the server fails its checks or does not speak TLS as expected; `ca` is the
    /// user's name for the list of authorities.
    pub async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        host: &str,
        stream: S,
        ca: &str,
    ) -> Result<TlsStream<S>> {
        let name = match ServerName::try_from(host.to_owned()) {
            Ok(name) => name,
            // For example an address with a zone. This placeholder is not sent to the server.
            Err(_) if !self.check_host => Ipv6Addr::UNSPECIFIED.into(),
            Err(_) => {
                let message = format!("certificates cannot name the host {host}");
                return Err(Error::new(ErrorKind::Usage, message));
            }
        };
        self.connector.connect(name, stream).await.map_err(|error| {
            let words = refusal::told_of_handshake(&error, ca);
            Error::new(ErrorKind::Unreachable, format!("TLS with the server failed: {words}"))
        })
    }
}

impl Tls {
    fn versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        let oldest = self.oldest.unwrap_or(Version::V1_2);
        let newest = self.newest.unwrap_or(Version::V1_3);
        [(Version::V1_3, &version::TLS13), (Version::V1_2, &version::TLS12)]
            .into_iter()
            .filter_map(|(known, rustls)| (oldest..=newest).contains(&known).then_some(rustls))
            .collect()
    }
}

fn unusable(cert: &Path, key: &Path, error: &rustls::Error) -> Error {
    let (cert, key) = (cert.display(), key.display());
    let message = match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("the key in {key} does not belong to the client certificate in {cert}")
        }
        _ => format!("the client certificate in {cert} and its key in {key}: {error}"),
    };
    Error::new(ErrorKind::Usage, message)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};
    use rustls::ServerConfig;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::sign::{CertifiedKey, SingleCertAndKey};
    use tokio::io::AsyncReadExt as _;
    use tokio_rustls::TlsAcceptor;
    use x509_cert::Certificate;
    use x509_cert::der::{Decode as _, Encode as _};

    use super::*;

    #[test]
    fn versions_are_those_between() {
        use rustls::ProtocolVersion::{TLSv1_2, TLSv1_3};
        let versions = |text: &str| {
            let tls: Tls = serde_json::from_str(text).unwrap();
            tls.versions().iter().map(|version| version.version).collect::<Vec<_>>()
        };
        assert_eq!(versions("{}"), [TLSv1_3, TLSv1_2]);
        assert_eq!(versions(r#"{"oldest": "TLSv1.3"}"#), [TLSv1_3]);
        assert_eq!(versions(r#"{"newest": "TLSv1.2"}"#), [TLSv1_2]);
    }

    /// A handshake with a server that has a certificate of version 1, as OpenSSL makes it without
    /// extensions; or, if it `leaves`, that closes the connection instead.
    fn handshake(tls: &str, leaves: bool) -> Result<()> {
        let key = KeyPair::generate().unwrap();
        let signed = CertificateParams::default().self_signed(&key).unwrap();
        let mut certificate = Certificate::from_der(signed.der()).unwrap();
        certificate.tbs_certificate.version = x509_cert::Version::V1;
        certificate.tbs_certificate.extensions = None;
        let chain = vec![certificate.to_der().unwrap().into()];
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let key = provider.key_provider.load_private_key(key).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, key))));
        let connector = Connector::new(&serde_json::from_str(tls).unwrap(), None).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (client, mut server) = tokio::io::duplex(1 << 16);
            let playing = async move {
                if leaves {
                    server.read_u8().await.unwrap();
                } else {
                    let _ = TlsAcceptor::from(Arc::new(config)).accept(server).await;
                }
            };
            tokio::join!(connector.connect("db.test", client, "ca"), playing).0.map(drop)
        })
    }

    #[test]
    fn any_certificate_is_accepted_where_the_signer_is_not_checked() {
        for version in ["TLSv1.2", "TLSv1.3"] {
            let tls = format!(r#"{{"oldest": "{version}", "newest": "{version}"}}"#);
            handshake(&tls, false).unwrap();
        }
    }

    #[test]
    fn a_server_that_leaves_the_handshake_may_lack_a_common_cipher() {
        let error = handshake("{}", true).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(error.message.contains("ECDHE"), "{error}");
    }

    #[test]
    fn no_version_at_all_is_refused() {
        let text = r#"{"oldest": "TLSv1.3", "newest": "TLSv1.2"}"#;
        let error = Connector::new(&serde_json::from_str(text).unwrap(), Some("p")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
    }
}

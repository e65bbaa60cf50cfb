//! Certificates that name their host only in the subject, the old way.

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error, RootCertStore};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::der::oid::AssociatedOid as _;
use x509_cert::der::oid::db::rfc4519::COMMON_NAME;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{NameConstraints, SubjectAltName};

/// Trusted authorities, and the supported signature algorithms.
#[derive(Clone, Copy)]
pub struct Trust<'a> {
    pub roots: &'a RootCertStore,
    pub algorithms: &'a WebPkiSupportedAlgorithms,
}

/// Checks whether a certificate without a matching alternative name is valid for the host by its
/// common name, as libpq accepts those made according to PostgreSQL's manual (RFC 6125, section
/// 6.4.4). No alternative name may be of the host's kind, and no authority in the chain may have
/// name constraints, because these are not checked against common names. Wildcards are not
/// accepted.
///
/// # Errors
/// `refusal` if it is not valid.
pub fn accept(
    refusal: Error,
    trust: Trust<'_>,
    certificate: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    host: &ServerName<'_>,
    now: UnixTime,
) -> Result<(), Error> {
    let other_name = matches!(
        &refusal,
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
        )
    );
    match (other_name, Certificate::from_der(certificate)) {
        (true, Ok(parsed))
            if !is_limited(&parsed)
                && may_be_named_by_subject(&parsed, host)
                && names(&parsed).any(|name| name.eq_ignore_ascii_case(&host.to_str()))
                && has_free_path(trust, certificate, intermediates, now) =>
        {
            Ok(())
        }
        _ => Err(refusal),
    }
}

/// Whether no alternative name is of the host's kind. Names of services and web addresses name a
/// host, too. Unreadable names may be anything.
fn may_be_named_by_subject(certificate: &Certificate, host: &ServerName<'_>) -> bool {
    let of_its_kind = |name: &GeneralName| match host {
        ServerName::IpAddress(_) => matches!(name, GeneralName::IpAddress(_)),
        _ => matches!(
            name,
            GeneralName::DnsName(_)
                | GeneralName::UniformResourceIdentifier(_)
                | GeneralName::OtherName(_)
        ),
    };
    match certificate.tbs_certificate.get::<SubjectAltName>() {
        Ok(None) => true,
        Ok(Some((_, alternatives))) => !alternatives.0.iter().any(of_its_kind),
        Err(_) => false,
    }
}

/// Whether the certificate has a chain of authorities without name constraints.
fn has_free_path(
    trust: Trust<'_>,
    certificate: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    now: UnixTime,
) -> bool {
    let free = trust.roots.roots.iter().filter(|root| root.name_constraints.is_none());
    let free: RootCertStore = free.cloned().collect();
    let intermediates: Vec<_> = intermediates
        .iter()
        .filter(|it| Certificate::from_der(it).is_ok_and(|parsed| !is_limited(&parsed)))
        .cloned()
        .collect();
    let algorithms = trust.algorithms.all;
    ParsedCertificate::try_from(certificate).is_ok_and(|parsed| {
        verify_server_cert_signed_by_trust_anchor(&parsed, &free, &intermediates, now, algorithms)
            .is_ok()
    })
}

/// Whether a certificate has name constraints.
fn is_limited(certificate: &Certificate) -> bool {
    let extensions = certificate.tbs_certificate.extensions.as_deref().unwrap_or_default();
    extensions.iter().any(|extension| extension.extn_id == NameConstraints::OID)
}

fn names(certificate: &Certificate) -> impl Iterator<Item = &str> {
    let parts = certificate.tbs_certificate.subject.0.iter().flat_map(|part| part.0.iter());
    parts
        .filter(|pair| pair.oid == COMMON_NAME)
        .filter_map(|pair| std::str::from_utf8(pair.value.value()).ok())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rcgen::{
        BasicConstraints, CertificateParams, DnType, GeneralSubtree, IsCa, Issuer, KeyPair,
        NameConstraints, SanType,
    };
    use rustls::client::danger::ServerCertVerifier as _;

    use crate::wire::tls::verifier::Verifier;

    use super::*;

    const HOST: &str = "db.test";

    /// An authority, an intermediate one, and the certificates that they sign.
    struct Authority {
        der: CertificateDer<'static>,
        issuer: Issuer<'static, KeyPair>,
    }

    impl Authority {
        /// Creates one that is self-signed or signed by `above`, with a name constraint if
        /// `limited`.
        fn new(name: &str, limited: bool, above: Option<&Self>) -> Self {
            let mut params = named(name, &[]);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.name_constraints = limited.then(|| NameConstraints {
                permitted_subtrees: vec![GeneralSubtree::DnsName("elsewhere.test".to_owned())],
                excluded_subtrees: Vec::new(),
            });
            let key = KeyPair::generate().unwrap();
            let signed = match above {
                Some(above) => params.signed_by(&key, &above.issuer),
                None => params.self_signed(&key),
            };
            Self { der: signed.unwrap().der().clone(), issuer: Issuer::new(params, key) }
        }

        fn sign(&self, common_name: &str, alternatives: &[SanType]) -> CertificateDer<'static> {
            let key = KeyPair::generate().unwrap();
            let signed = named(common_name, alternatives).signed_by(&key, &self.issuer);
            signed.unwrap().der().clone()
        }
    }

    fn named(common_name: &str, alternatives: &[SanType]) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.subject_alt_names = alternatives.to_vec();
        params
    }

    fn accepted(
        root: &Authority,
        intermediates: &[&Authority],
        certificate: &CertificateDer<'_>,
        host: &str,
    ) -> bool {
        let mut roots = RootCertStore::empty();
        roots.add(root.der.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let verifier = Verifier { roots: Some(roots), check_host: true, algorithms };
        let intermediates: Vec<_> = intermediates.iter().map(|it| it.der.clone()).collect();
        let host = ServerName::try_from(host).unwrap();
        let now = UnixTime::now();
        verifier.verify_server_cert(certificate, &intermediates, &host, &[], now).is_ok()
    }

    fn dns(name: &str) -> SanType {
        SanType::DnsName(name.try_into().unwrap())
    }

    #[test]
    fn the_common_name_counts_where_no_name_is_of_the_hosts_kind() {
        let root = Authority::new("root", false, None);
        let address = || SanType::IpAddress([127, 0, 0, 1].into());
        let mail = || SanType::Rfc822Name("a@db.test".try_into().unwrap());
        let page = || SanType::URI("https://elsewhere.test/".try_into().unwrap());
        for (common_name, alternatives, host, expected) in [
            (HOST, vec![], HOST, true),
            ("DB.test", vec![], HOST, true),
            ("*.test", vec![], HOST, false),
            ("elsewhere.test", vec![], HOST, false),
            (HOST, vec![address(), mail()], HOST, true),
            (HOST, vec![dns("elsewhere.test")], HOST, false),
            (HOST, vec![page()], HOST, false),
            ("elsewhere.test", vec![dns(HOST)], HOST, true),
            ("10.0.0.1", vec![], "10.0.0.1", true),
            ("10.0.0.1", vec![dns(HOST)], "10.0.0.1", true),
            ("10.0.0.1", vec![address()], "10.0.0.1", false),
        ] {
            let certificate = root.sign(common_name, &alternatives);
            let found = accepted(&root, &[], &certificate, host);
            assert_eq!(found, expected, "{common_name} {alternatives:?} for {host}");
        }
    }

    #[test]
    fn authorities_that_are_limited_sign_for_no_common_name() {
        let (free, limited) =
            (Authority::new("free", false, None), Authority::new("limited", true, None));
        for common_name in [HOST, "elsewhere.test"] {
            let certificate = limited.sign(common_name, &[]);
            assert!(!accepted(&limited, &[], &certificate, common_name), "{common_name}");
        }
        let certificate = limited.sign("x", &[dns("elsewhere.test")]);
        assert!(accepted(&limited, &[], &certificate, "elsewhere.test"), "its own names count");

        for (root, narrow, expected) in
            [(&free, false, true), (&free, true, false), (&limited, false, false)]
        {
            let middle = Authority::new("middle", narrow, Some(root));
            let certificate = middle.sign(HOST, &[]);
            assert_eq!(accepted(root, &[&middle], &certificate, HOST), expected, "{narrow}");
        }
    }
}

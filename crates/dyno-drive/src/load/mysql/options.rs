//! How the loader's driver reaches a server.

use dyno_record::Result;
use mysql_async::{ClientIdentity, Opts, OptsBuilder, SslOpts};

use crate::wire::Secret;
use crate::wire::mysql::{Config, Tls};

/// The driver's options.
///
/// # Errors
/// `usage` for TLS over a unix socket, over which the driver would not encrypt.
pub fn options(config: &Config) -> Result<Opts> {
    config.require_encryptable()?;
    let options = OptsBuilder::default()
        .ip_or_hostname(config.host.clone())
        .tcp_port(config.port)
        .socket(config.unix_socket.clone())
        // Otherwise the driver changes over to a socket on its own, and measures another path.
        .prefer_socket(config.unix_socket.is_some())
        .user(Some(config.user.clone()))
        .pass(config.password.as_ref().map(Secret::as_str))
        .db_name(Some(config.database.clone()))
        .ssl_opts(config.tls.as_ref().map(tls))
        // A load asks no questions that a cache could answer.
        .init(config.session(false));
    Ok(options.into())
}

fn tls(tls: &Tls) -> SslOpts {
    let identity = tls.cert.as_ref().map(|cert| {
        let key = tls.key.as_ref().unwrap_or(cert);
        ClientIdentity::new(cert.clone().into(), key.clone().into())
    });
    let options = SslOpts::default().with_client_identity(identity);
    match &tls.ca {
        Some(file) => {
            options.with_root_certs(vec![file.clone().into()]).with_disable_built_in_roots(true)
        }
        None => options.with_danger_accept_invalid_certs(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(more: &str) -> Config {
        serde_json::from_str(&format!(
            r#"{{"host": "h", "port": 1, "user": "u", "password": "p4ss", "database": "d"{more}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn the_password_is_handed_on() {
        assert_eq!(options(&config("")).unwrap().pass(), Some("p4ss"));
    }

    #[test]
    fn tls_checks_the_server_against_the_authority_alone() {
        assert!(options(&config("")).unwrap().ssl_opts().is_none());
        let encrypted = options(&config(r#", "tls": {}"#)).unwrap();
        assert!(encrypted.ssl_opts().unwrap().accept_invalid_certs());
        let known = config(r#", "tls": {"ca": "/ca.pem", "cert": "/me.pem"}"#);
        let known = options(&known).unwrap();
        let tls = known.ssl_opts().unwrap();
        assert!(!tls.accept_invalid_certs() && !tls.skip_domain_validation());
        assert!(tls.disable_built_in_roots() && tls.root_certs().len() == 1);
        let identity = tls.client_identity().unwrap();
        assert_eq!(identity.priv_key(), identity.cert_chain());
    }
}

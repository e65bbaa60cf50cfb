//! Tests of logins, against scripted servers.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use proptest::prelude::{ProptestConfig, any, prop, prop_assert, proptest};
use serde_json::{Value, json};

use super::super::key::tests::KEY;
use super::super::{Config, Mysql};
use super::*;
use crate::alarm::Alarm;
use crate::wire::Wire as _;

/// What the client sent, and its result.
struct Talk {
    error: Error,
    heard: Vec<u8>,
}

impl Talk {
    fn has(&self, bytes: &[u8]) -> bool {
        self.heard.windows(bytes.len()).any(|heard| heard == bytes)
    }
}

fn endpoint(more: &Value) -> Endpoint {
    let mut config = json!({
        "host": "127.0.0.1", "port": 1, "user": "u", "password": "p4ss", "database": "d"
    });
    for (name, value) in more.as_object().unwrap() {
        config[name] = value.clone();
    }
    let config: Config = serde_json::from_value(config).unwrap();
    Endpoint::new(config).unwrap()
}

/// The result of a login at a server that sends `words` and then reads.
fn told(words: Vec<u8>, more: &Value) -> Talk {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut endpoint = endpoint(more);
    endpoint.config.port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        // The client may disconnect before it has read everything.
        let _ = client.write_all(&words);
        let _ = client.shutdown(std::net::Shutdown::Write);
        let mut heard = Vec::new();
        // Until the client disconnects, in whatever way.
        let _ = client.read_to_end(&mut heard);
        heard
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(log_in(&endpoint, 0)).map(drop).unwrap_err();
    Talk { error, heard: server.join().unwrap() }
}

fn packets(bodies: &[&[u8]]) -> Vec<u8> {
    let mut out = BytesMut::new();
    for (number, body) in (0..).step_by(2).zip(bodies) {
        frame(&mut out, number, |out| out.put_slice(body));
    }
    out.to_vec()
}

const GREETING: &[u8] = b"\x0A8.0.44\0\x01\0\0\x0012345678\0\xFF\xFF\x2E\x02\0\xFF\xDF\x15\0\0\0\0\0\0\0\0\0\x0090abcdefghij\0caching_sha2_password\0";
/// It requests the password.
const FULL: &[u8] = b"\x01\x04";

#[test]
fn a_server_that_hangs_up_or_says_no_is_told_apart() {
    let nothing = json!({});
    assert_eq!(told(vec![], &nothing).error.kind, ErrorKind::Unreachable);
    let denied = b"\xFF\x15\x04#28000Access denied for user 'u'";
    let error = told(packets(&[GREETING, denied]), &nothing).error;
    assert_eq!(error.kind, ErrorKind::Denied);
    let unknown = told(packets(&[GREETING, b"\xFEdialog\0"]), &nothing).error;
    assert_eq!(unknown.kind, ErrorKind::Denied);
    assert!(unknown.message.contains("dialog"), "{unknown}");
}

#[test]
fn the_password_itself_is_not_sent_where_others_could_read_it() {
    let talk = told(packets(&[GREETING, FULL, b"\x01no key"]), &json!({}));
    assert!(talk.heard.ends_with(b"\x01\0\0\x03\x02"), "the key was asked for");
    assert!(talk.error.message.contains("not RSA"), "{}", talk.error);
    assert!(!talk.has(b"p4ss"));
    // The password arrives encrypted with the requested key.
    let key = format!("\x01{KEY}");
    let talk = told(packets(&[GREETING, FULL, key.as_bytes()]), &json!({}));
    assert!(talk.has(b"\x00\x01\0\x05"), "256 bytes in packet 5");
    assert!(!talk.has(b"p4ss"));
}

#[test]
fn a_key_that_nobody_asked_for_encrypts_nothing() {
    let key = format!("\x01{KEY}");
    let talk = told(packets(&[GREETING, key.as_bytes()]), &json!({}));
    assert_eq!(talk.error.kind, ErrorKind::Protocol);
    assert!(!talk.has(b"\x00\x01\0"));
}

#[test]
fn a_server_that_is_known_by_its_key_is_asked_for_none() {
    let file = std::env::temp_dir().join(format!("dyno-drive-key-{}.pem", std::process::id()));
    std::fs::write(&file, KEY).unwrap();
    let talk = told(packets(&[GREETING, FULL]), &json!({"server_key": file}));
    std::fs::remove_file(&file).unwrap();
    assert!(talk.has(b"\x00\x01\0\x03"), "256 bytes in packet 3");
    assert!(!talk.has(b"p4ss"));
}

#[test]
fn beyond_this_machine_a_key_is_asked_for_only_by_leave() {
    let error = require_trust(&endpoint(&json!({})), false).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied);
    for way in ["ssl_ca", "server_public_key", "allow_public_key_retrieval"] {
        assert!(error.message.contains(way), "{error}");
    }
    assert!(require_trust(&endpoint(&json!({})), true).is_ok());
    assert!(require_trust(&endpoint(&json!({"key_retrieval": true})), false).is_ok());
}

#[test]
fn a_server_that_never_comes_to_an_end_is_left() {
    let switch = b"\xFEmysql_native_password\0aaaaaaaaaaaaaaaaaaaa\0".as_slice();
    let endless = [&[GREETING][..], &[switch; 2 * LONGEST_TALK]].concat();
    let talk = told(packets(&endless), &json!({}));
    assert!(talk.error.message.contains("too many login requests"), "{}", talk.error);
}

#[test]
fn a_packet_that_no_login_has_is_not_waited_for() {
    for announced in [b"\xFF\xFF\xFF\0", b"\0\0\x01\0", b"HTTP"] {
        let error = told(announced.to_vec(), &json!({})).error;
        assert_eq!(error.kind, ErrorKind::Protocol, "{error}");
    }
}

#[test]
fn nobody_is_waited_for_beyond_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let endpoint = endpoint(&json!({"port": port, "connect_timeout_s": 0.1}));
    let wire = Mysql::new(endpoint.config).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // The system accepts the connection; no server responds.
    let connecting = async { wire.connect(&[], &Alarm::new().unwrap()).await.map(drop) };
    let error = runtime.block_on(connecting).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}")), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_server_gets_the_password_or_a_panic(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6), more in any::<bool>()) {
        let greeting = [GREETING.to_vec()];
        let heads: [&[u8]; 4] = [b"", b"\x01", b"\xFE", b"\x01\x04"];
        let bodies = bodies.iter().zip(heads.into_iter().cycle()).map(|(body, head)| {
            if more { [head, body].concat() } else { body.clone() }
        });
        let all: Vec<Vec<u8>> = greeting.into_iter().chain(bodies).collect();
        let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
        let mut words = packets(&all);
        // Never an OK, so all these logins fail.
        words.extend(packets(&[b"\xFF\x15\x04#28000no"]));
        if all.iter().any(|body| body.first() == Some(&0)) {
            return Ok(());
        }
        let leaked = told(words, &json!({})).has(b"p4ss");
        prop_assert!(!leaked);
    }
}

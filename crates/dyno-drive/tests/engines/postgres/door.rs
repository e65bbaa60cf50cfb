//! Logins: who is accepted, and the messages for those who are not.

use std::time::Duration;

use dyno_gen::Workload;
use dyno_record::{Error, ErrorKind};
use serde_json::{Value, json};

use super::run;
use super::server::Server;

fn failure(server: &Server, wire: &Value) -> Error {
    run(server, "failure", &json!({"wire": wire})).unwrap_err()
}

#[test]
fn what_is_wrong_at_the_door_is_said() {
    // Fewer than the 150 users below; more than the sessions that are still closing.
    let Some(server) = Server::start(&["max_connections = 100"]) else { return };
    server.psql(
        "postgres",
        "set password_encryption = 'md5'; create role by_md5 login password 'se ''cret';
         set password_encryption = 'scram-sha-256'; create role by_scram login password 'sécret';
         create role by_text login password 'secret';",
    );
    let hba = "local all by_md5 md5\nlocal all by_scram scram-sha-256\nlocal all by_text password\n\
               local all all trust\nhost all by_scram 127.0.0.1/32 scram-sha-256\n\
               hostssl all all 127.0.0.1/32 trust\n";
    std::fs::write(server.dir.join("data/pg_hba.conf"), hba).unwrap();
    let loaded = || server.psql("postgres", "select pg_conf_load_time()");
    let before = loaded();
    server.psql("postgres", "select pg_reload_conf()");
    while loaded() == before {
        std::thread::sleep(Duration::from_millis(5));
    }
    let wire = |user: &str, password: Option<&str>| {
        let mut wire = server.wire("postgres");
        wire["user"] = json!(user);
        wire["password"] = json!(password);
        wire
    };
    for (user, password) in [("by_md5", "se 'cret"), ("by_scram", "sécret"), ("by_text", "secret")]
    {
        // The login succeeds, but there is nothing to drive.
        let error = failure(&server, &wire(user, Some(password)));
        assert_eq!(error.kind, ErrorKind::Usage, "{error}");
        assert!(error.message.contains("load the workload"), "{error}");
        for wrong in [Some("wrong"), None] {
            let error = failure(&server, &wire(user, wrong));
            assert_eq!(error.kind, ErrorKind::Denied, "{error}");
            assert!(!error.to_string().contains("wrong"), "{error}");
        }
    }

    let mut tcp = wire("by_scram", Some("sécret"));
    tcp["host"] = json!("localhost");
    assert_eq!(failure(&server, &tcp).kind, ErrorKind::Usage);
    let mut tls = server.wire("postgres");
    tls["host"] = json!("127.0.0.1");
    let error = failure(&server, &tls);
    assert_eq!(error.kind, ErrorKind::Denied);
    assert!(error.message.contains("TLS"), "{error}");

    assert_eq!(failure(&server, &server.wire("nowhere")).kind, ErrorKind::Unreachable);
    let mut elsewhere = server.wire("postgres");
    elsewhere["port"] = json!(1);
    assert_eq!(failure(&server, &elsewhere).kind, ErrorKind::Unreachable);
    elsewhere["host"] = json!(format!("/{}", "x".repeat(120)));
    assert_eq!(failure(&server, &elsewhere).kind, ErrorKind::Usage);

    server.create(Workload::Tpcc);
    let error = run(&server, "crowd", &json!({"users": 150})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooManyConnections, "{error}");
    assert!(error.message.contains("max_connections"), "{error}");
    server.psql("tpcc", "alter table warehouse alter w_tax type text");
    let error = run(&server, "types", &json!({})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.message.contains("warehouse_tax"), "{error}");
}

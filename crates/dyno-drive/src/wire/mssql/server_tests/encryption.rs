//! TLS, with a server that DYNO_TEST_MSSQL_TLS_URL names, whose certificate is self-signed.

use super::*;

/// The result of a session with these settings of TLS.
async fn answered(endpoint: &Json, tls: &Json) -> Result<i64> {
    let place = Place { endpoint: endpoint.clone(), database: "master".to_owned() };
    let statement = |sql: String| {
        vec![Statement { name: "x", sql: sql.into(), params: &[INT], returns: &[Type::Text] }]
    };
    let long = "x".repeat(20_000);
    let statements = statement(format!("select '{long}' + cast($1 as varchar(9))"));
    let wire = place.wire(&json!({"tls": tls}));
    let mut session = wire.connect(&statements, &alarm()).await?;
    let slot = session.queue(StatementId(0), &[Value::Int(7)]);
    session.flush().await?;
    let text = session.text(slot, 0, 0)?;
    assert_eq!(text, format!("{long}7"));
    Ok(text.len() as i64)
}

fn with_alarm(work: impl AsyncFnOnce()) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let alarm = Alarm::new().unwrap();
        ALARM.set(Some(alarm.clone()));
        tokio::select! {
            failed = alarm.run() => panic!("{failed:?}"),
            () = work() => {}
        }
    });
}

#[test]
fn sessions_are_encrypted_and_servers_authenticated() {
    let Some(endpoint) = endpoint("DYNO_TEST_MSSQL_TLS_URL") else { return };
    with_alarm(async || {
        assert_eq!(answered(&endpoint, &json!({"trust": true})).await.unwrap(), 20_001);
        let error = answered(&endpoint, &json!({})).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
        assert!(error.message.contains("TLS with the server failed"), "{error}");
    });
}

#[test]
fn a_server_without_tls_is_refused() {
    let Some(endpoint) = endpoint("DYNO_TEST_MSSQL_URL") else { return };
    with_alarm(async || {
        let error = answered(&endpoint, &json!({"trust": true})).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
        assert!(error.message.contains("does not offer TLS"), "{error}");
    });
}

//! Statements as a log has them.

use super::*;
use crate::replay::Server as Replayed;
use crate::wire::Verbatim as _;

#[test]
fn a_text_may_hold_several_statements_whose_results_are_all_read() {
    with_server(async |server, wire| {
        let mut mine = wire.connect(&[], &alarm()).await.unwrap();
        let several = "insert into t values (1, 1); select k, v from t; update t set v = 7";
        assert!(mine.verbatim(several, None).await.is_err(), "unless allowed");
        mine.allow_several().await.unwrap();
        mine.verbatim(several, None).await.unwrap();
        mine.verbatim("insert into t values (2, 2)", None).await.unwrap();
        // The first one that fails ends the text.
        let failing = "insert into t values (3, 3); insert into t values (1, 1); delete from t";
        let error = mine.verbatim(failing, None).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Database, "{error}");
        mine.verbatim("insert into t values (4, 4)", None).await.unwrap();
        let found = server.sql("d", "select group_concat(k, '=', v order by k) from t");
        assert_eq!(found, "1=7,2=2,3=3,4=4");
    });
}

#[test]
fn replayed_sessions_have_the_zone_and_the_lock_waits_of_their_server() {
    with_server(async |server, wire| {
        server.sql("d", "set global time_zone = '+03:00'; set global lock_wait_timeout = 700");
        let Mysql(place) = wire;
        let mut config = place.config.clone();
        config.lock_wait_s = Some(5);
        for writes in [true, false] {
            let wire = Mysql::new(config.clone()).unwrap();
            let server = Replayed { wire, writes, alarm: alarm() };
            let mut mine = server.connect().await.unwrap();
            mine.verbatim("select 1; select 2", None).await.unwrap();
            let check = "begin not atomic if @@time_zone <> '+03:00' or \
                         @@innodb_lock_wait_timeout <> 600 or @@lock_wait_timeout <> 700 then \
                         signal sqlstate '45000'; end if; end";
            mine.verbatim(check, None).await.unwrap();
        }
    });
}

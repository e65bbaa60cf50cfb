use super::*;
use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};

const TIME: &str = "2026-11-26 14:42:30.123 UTC";
const AT_NS: i64 = 1_795_704_150_123_000_000;

/// A field of a CSV log: text is quoted.
fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

fn csv(time: &str, session: &str, message: &str, detail: &str) -> String {
    let (message, detail) = (quoted(message), quoted(detail));
    format!(
        "{time},\"u\",\"shop\",77,\"[local]\",{session},3,\"SELECT\",{time},3/0,0,LOG,00000,{message},\
         {detail},,,,,,,,\"app\",\"client backend\",,0\n"
    )
}

fn json(time: &str, session: &str, message: &str, detail: &str) -> String {
    let row = serde_json::json!({
        "timestamp": time, "user": "u", "dbname": "shop", "pid": 77, "session_id": session,
        "line_num": 3, "error_severity": "LOG", "message": message, "detail": detail,
    });
    format!("{row}\n")
}

fn read(text: impl Into<Vec<u8>>) -> Result<(Vec<Entry>, Entries)> {
    let mut entries = Entries::new(Box::new(std::io::Cursor::new(text.into())))?;
    let mut found = Vec::new();
    while let Some(entry) = entries.next()? {
        found.push(entry);
    }
    Ok((found, entries))
}

/// A general log with another entry after the last statement, which is complete so.
fn followed(text: &str) -> String {
    format!("{text}\t\t     9 Ping\t\n")
}

fn ran(entry: &Entry) -> &Ran {
    let What::Ran(ran) = &entry.what else { panic!("{entry:?}") };
    ran
}

fn fault(text: impl Into<Vec<u8>>) -> String {
    match read(text) {
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Usage, "{error}");
            error.message
        }
        Ok((found, _)) => panic!("{found:?}"),
    }
}

#[test]
fn statements_connections_and_everything_else() {
    for row in [csv, json] {
        let text = [
            row(TIME, "a.1", "connection received: host=[local]", ""),
            row(TIME, "a.1", "connection authorized: user=u database=shop", ""),
            row(TIME, "a.1", "statement: select 1", ""),
            row(TIME, "a.1", "duration: 0.063 ms", ""),
            row(TIME, "a.1", "duration: 1.500 ms  parse <unnamed>: select $1", ""),
            row(
                TIME,
                "a.1",
                "duration: 2.500 ms  execute <unnamed>: select $1",
                "Parameters: $1 = 'x'",
            ),
            row(TIME, "a.1", "execute s1/p: select 7", ""),
            row(TIME, "a.1", "execute fetch from s1/p: select 7", ""),
            row(TIME, "a.1", "execute s1: select $1", ""),
            row(TIME, "a.1", "duration: 9.000 ms  plan:\nQuery Text: select 1", ""),
            row(TIME, "a.1", "disconnection: session time: 0:00:01", ""),
        ]
        .concat();
        let (found, _) = read(text).unwrap();
        assert_eq!(found.len(), 6, "{found:?}");
        assert_eq!(found[0].what, What::Opened);
        assert_eq!((found[0].at_ns, found[0].session), (AT_NS, 0xa_0000_0001));
        assert_eq!(ran(&found[1]).sql, "select 1");
        assert_eq!(ran(&found[1]).parameters, None);
        assert_eq!(ran(&found[1]).database.as_deref(), Some("shop"));
        assert_eq!(ran(&found[2]).parameters, Some(vec![Some("x".to_owned())]));
        assert_eq!(ran(&found[2]).took_ns, 2_500_000);
        assert_eq!(ran(&found[3]).parameters, Some(vec![]));
        assert_eq!(found[4].what, What::Lost(Lost::Parameters));
        assert_eq!(found[5].what, What::Closed);
    }
}

#[test]
fn the_duration_is_subtracted_but_a_session_never_goes_back() {
    let text = [
        csv(TIME, "a.1", "statement: first", ""),
        csv("2026-11-26 14:42:31.123 UTC", "a.1", "duration: 400.000 ms  statement: second", ""),
        csv("2026-11-26 14:42:31.123 UTC", "a.1", "duration: 5000.000 ms  statement: third", ""),
        csv("2026-11-26 14:42:31.123 UTC", "a.2", "duration: 5000.000 ms  statement: other", ""),
    ]
    .concat();
    let (found, _) = read(text).unwrap();
    let times: Vec<_> = found.iter().map(|entry| (entry.at_ns - AT_NS) / 1_000_000).collect();
    assert_eq!(times, [0, 600, 600, -4000]);
}

#[test]
fn messages_of_functions_and_errors_are_no_statements() {
    let forged = csv(TIME, "a.1", "statement: drop table t", "")
        .replace(",,,,,,,,\"app\"", ",,,,\"PL/pgSQL function f()\",,,,\"app\"");
    let failed = csv(TIME, "a.1", "statement: x", "").replace("00000", "42601");
    let (found, _) = read(forged + &failed).unwrap();
    assert_eq!(found, []);
}

#[test]
fn a_cut_first_and_a_cut_last_record_are_noted() {
    let text = format!(
        "end of a \"cut\" record\n{}{}",
        csv(TIME, "a.1", "statement: select 1", ""),
        &csv(TIME, "a.1", "statement: select\n2", "")[..90],
    );
    let (found, entries) = read(text).unwrap();
    assert_eq!((found.len(), entries.cut_before, entries.cut_at), (1, 1, Some(3)));
    let row = json(TIME, "a.1", "statement: select 1", "");
    let (found, entries) = read(format!("{row}{}", &row[..40])).unwrap();
    assert_eq!((found.len(), entries.cut_at), (1, Some(2)));
}

#[test]
fn a_damaged_record_is_named_by_its_line() {
    let row = csv(TIME, "a.1", "statement: select\n1", "");
    assert!(fault(format!("{row}{TIME},x\n{row}")).starts_with("line 3: "));
    assert!(
        fault(format!("{row}{}\n{row}", row.replacen(",\"u\"", ",u\"", 1).trim()))
            .starts_with("line 3: ")
    );
    let row = json(TIME, "a.1", "statement: select 1", "");
    assert!(fault(format!("{row}{}\n{row}", &row[..50])).starts_with("line 2: "));
}

#[test]
fn what_is_no_log_is_refused() {
    assert_eq!(fault(""), "the log is empty");
    for other in [
        "hello\n",
        "2026-11-26 14:42:30.123 UTC [77] LOG:  statement: select 1\n",
        "{\"a\": 1}\n",
        "\0\0\0\n",
    ] {
        assert!(fault(other).starts_with("line 1: "), "{other}");
    }
}

#[test]
fn bytes_that_are_no_text_are_lost() {
    let row = csv(TIME, "a.1", "statement: select 'x'", "");
    let row: Vec<u8> = row.bytes().map(|byte| if byte == b'x' { 0xff } else { byte }).collect();
    let (found, _) = read(row).unwrap();
    assert_eq!(found[0].what, What::Lost(Lost::Encoding));
}

#[test]
fn bytes_that_are_no_text_damage_no_other_field_and_no_other_row() {
    for form in [csv, json] {
        let row = form(TIME, "a.1", "statement: select 'x'", "");
        let (good, app) = (row.clone(), row.replace("\"u\"", "\"x\""));
        let garble = |text: &str| -> Vec<u8> {
            text.bytes().map(|byte| if byte == b'x' { 0xff } else { byte }).collect()
        };
        let text = [garble(&row), good.into_bytes()].concat();
        let (found, _) = read(text).unwrap();
        assert_eq!(found[0].what, What::Lost(Lost::Encoding));
        assert_eq!(ran(&found[1]).sql, "select 'x'");
        let text = garble(&app.replace("'x'", "'y'"));
        assert_eq!(ran(&read(text).unwrap().0[0]).sql, "select 'y'");
    }
}

#[test]
fn a_carriage_return_within_a_statement_stays() {
    let text = "261126 14:42:30\t    12 Query\tselect '1\r\n\r\n2'\r\n\t\t    12 Quit\t\r\n";
    let (found, _) = read(text).unwrap();
    assert_eq!(ran(&found[0]).sql, "select '1\r\n\r\n2'");
    assert_eq!(found[1].what, What::Closed);
}

#[test]
fn commands_of_replicas_and_tools_are_no_lines_of_a_statement() {
    for command in ["Binlog Dump GTID", "Refresh", "Create DB", "Drop DB", "Register Slave"] {
        let text = format!(
            "261126 14:42:30\t    12 Query\tselect 1\n\t\t    13 {command}\tx\n\
             \t\t    12 Query\tselect 2\n"
        );
        let (found, _) = read(followed(&text)).unwrap();
        let ran: Vec<_> = found.iter().map(|entry| &*ran(entry).sql).collect();
        assert_eq!(ran, ["select 1", "select 2"], "{command}");
    }
}

#[test]
fn links_and_folders_are_refused() {
    let folder = std::env::temp_dir();
    assert!(Entries::open(&folder, None, None).unwrap_err().message.contains("regular file"));
    let link = folder.join(format!("dyno-log-link-{}", std::process::id()));
    std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
    let error = Entries::open(&link, None, None).unwrap_err();
    std::fs::remove_file(&link).unwrap();
    assert!(error.message.contains("a link"), "{error}");
    let missing = Entries::open(&folder.join("none"), None, None).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::Usage);
}

const GENERAL: &str = "\
/usr/sbin/mariadbd, Version: 10.11.6-MariaDB (Debian). started with:
Tcp port: 0  Unix socket: /tmp/s
Time\t\t    Id Command\tArgument
261126 14:42:30\t    12 Connect\troot@localhost on shop using Socket
\t\t    12 Query\tselect 1
\t\t    13 Connect\troot@localhost on  using TCP/IP
\t\t    13 Query\tselect
'two
\tlines'
261126 14:42:31\t    12 Execute\tupdate t set a = 'x'
\t\t    13 Init DB\tother
\t\t    13 Query\tselect 3
\t\t    12 Quit\t
";

#[test]
fn a_general_log_spreads_a_second_over_its_entries() {
    let (found, _) = read(GENERAL).unwrap();
    let second = AT_NS - 123_000_000;
    let times: Vec<_> = found.iter().map(|entry| (entry.at_ns - second) / 1_000_000).collect();
    assert_eq!(times, [0, 250, 500, 750, 1000, 1333, 1666]);
    assert_eq!(ran(&found[1]).database.as_deref(), Some("shop"));
    assert_eq!(ran(&found[3]).sql, "select\n'two\n\tlines'");
    assert_eq!(ran(&found[3]).database.as_deref(), Some(""));
    assert_eq!(ran(&found[5]).database.as_deref(), Some("other"));
    assert_eq!(found[6].what, What::Closed);
    assert_eq!(found[3].line, 7);
}

#[test]
fn entries_before_the_first_time_are_of_the_second_before() {
    let untimed = GENERAL.replacen("261126 14:42:30", "\t", 1);
    let (found, _) = read(untimed.as_str()).unwrap();
    let second = AT_NS - 123_000_000;
    let times: Vec<_> = found.iter().map(|entry| (entry.at_ns - second) / 1_000_000).collect();
    assert_eq!(times[..5], [0, 250, 500, 750, 1000]);
}

#[test]
fn use_moves_a_session_to_another_database() {
    let text = "\
        261126 14:42:30\t    12 Connect\troot@localhost on shop using Socket\n\
        \t\t    12 Query\tUSE `other`\n\
        \t\t    12 Query\tselect 1\n\
        \t\t    12 Change user\troot@localhost on third using Socket\n\
        \t\t    12 Query\tselect 2\n\
        \t\t    12 Query\tuse `a``b`; select 'use c'\n\
        \t\t    12 Query\tselect 3; select 4\n";
    let (found, _) = read(followed(text)).unwrap();
    let ran: Vec<_> = found.iter().filter(|entry| entry.what != What::Opened).map(ran).collect();
    let ran: Vec<_> = ran.iter().map(|ran| (&*ran.sql, ran.database.as_deref())).collect();
    assert_eq!(
        ran,
        [
            ("select 1", Some("other")),
            ("select 2", Some("third")),
            ("use `a``b`; select 'use c'", Some("third")),
            ("select 3; select 4", Some("a`b")),
        ]
    );
}

#[test]
fn prepared_statements_run_once_with_their_values() {
    // As MariaDB 10.11 logs them: by SQL, then by the protocol.
    let text = "\
        261126 14:42:30\t    12 Query\tPREPARE p FROM 'select ?'\n\
        \t\t    12 Prepare\tselect ?\n\
        \t\t    12 Query\tEXECUTE p USING @a\n\
        \t\t    12 Execute\tselect 7\n\
        \t\t    12 Query\tDEALLOCATE PREPARE p\n\
        \t\t    12 Prepare\tselect 1 + ?\n\
        \t\t    12 Execute\tselect 1 + 8\n\
        \t\t    12 Close stmt\t\n";
    let (found, _) = read(text).unwrap();
    let ran: Vec<_> = found.iter().map(|entry| &*ran(entry).sql).collect();
    assert_eq!(ran, ["select 7", "select 1 + 8"]);
}

#[test]
fn the_last_statement_of_a_general_log_may_be_cut() {
    let text = "261126 14:42:30\t    12 Query\tdelete from item\n";
    let (found, entries) = read(text).unwrap();
    assert_eq!((found.len(), entries.cut_at), (0, Some(1)));
    let (found, entries) = read(followed(text)).unwrap();
    assert_eq!((found.len(), entries.cut_at), (1, None));
}

#[test]
fn mysql_has_exact_times() {
    let text = "2026-11-26T14:42:30.000001Z\t   12 Query\tselect 1\n\
                2026-11-26T14:42:30.500001Z\t   12 Query\tselect 2\n";
    let (found, _) = read(followed(text)).unwrap();
    assert_eq!(found[1].at_ns - found[0].at_ns, 500_000_000);
}

#[test]
fn the_end_of_summer_time_is_no_jump_and_two_logs_are_none() {
    let text = "261025  2:59:59\t    12 Query\tselect 1\n261025  2:00:00\t    12 Query\tselect 2\n";
    let (found, _) = read(followed(text)).unwrap();
    assert_eq!(found[1].at_ns - found[0].at_ns, 1_000_000_000);
    let text = "261126 14:42:30\t    12 Query\tselect 1\n261126 12:00:00\t    12 Query\tselect 2\n";
    assert!(fault(text).starts_with("line 2: "));
}

#[test]
fn an_entry_that_was_overtaken_belongs_to_the_current_second() {
    let text = "\
        261126 14:42:30\t    12 Query\tselect 1\n\
        261126 14:42:31\t    13 Query\tselect 2\n\
        261126 14:42:30\t    12 Query\tselect 3\n\
        261126 14:42:31\t    13 Query\tselect 4\n\
        261126 14:41:31\t    12 Query\tselect 5\n\
        261126 14:42:32\t    12 Query\tselect 6\n";
    let (found, _) = read(followed(text)).unwrap();
    let times: Vec<_> = found.iter().map(|one| (one.at_ns - found[0].at_ns) / 1_000_000).collect();
    assert_eq!(times, [0, 1000, 1250, 1500, 1750, 2000]);
    assert!(found.is_sorted_by_key(|one| one.line));
    let text = "261126 14:42:31\t    12 Query\tselect 1\n261126 14:41:30\t    12 Query\tselect 2\n";
    assert!(fault(text).starts_with("line 2: "));
    // At the end of summer time.
    let text = "\
        261025  2:59:59\t    12 Query\tselect 1\n\
        261025  2:00:00\t    12 Query\tselect 2\n\
        261025  2:59:59\t    13 Query\tselect 3\n\
        261025  2:00:01\t    12 Query\tselect 4\n";
    let (found, _) = read(followed(text)).unwrap();
    let times: Vec<_> = found.iter().map(|one| (one.at_ns - found[0].at_ns) / 1_000_000).collect();
    assert_eq!(times, [0, 1000, 1500, 2000]);
}

/// Texts with what the formats escape.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\"".to_owned()),
        Just("'".to_owned()),
        Just("\n".to_owned()),
        Just(",".to_owned()),
        Just("\\".to_owned()),
        Just("\t".to_owned()),
        "[a-zäß0-9 ]{0,5}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn rows_survive_a_round_trip(sql in texts(), values in proptest::collection::vec(proptest::option::of(texts()), 0..4)) {
        let said: Vec<_> = values.iter().enumerate().map(|(at, value)| match value {
            None => format!("${} = NULL", at + 1),
            Some(value) => format!("${} = '{}'", at + 1, value.replace('\'', "''")),
        }).collect();
        let detail = if said.is_empty() { String::new() } else { format!("parameters: {}", said.join(", ")) };
        let message = format!("execute <unnamed>: x{sql}");
        for row in [csv, json] {
            let text = row(TIME, "a.1", &message, &detail).repeat(2);
            let (found, _) = read(text).unwrap();
            prop_assert_eq!(found.len(), 2);
            for entry in &found {
                prop_assert_eq!(&ran(entry).sql, &format!("x{sql}"));
                prop_assert_eq!(ran(entry).parameters.as_ref(), Some(&values));
            }
        }
    }

    #[test]
    fn statements_of_a_general_log_survive(sql in texts()) {
        let text = format!("261126 14:42:30\t    12 Query\tx{sql}\n\t\t    12 Quit\t\n");
        let (found, _) = read(text).unwrap();
        prop_assert_eq!(&ran(&found[0]).sql, &format!("x{sql}"));
        prop_assert_eq!(found.len(), 2);
    }

    #[test]
    fn any_bytes_end_in_entries_or_an_error(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let mut text = csv(TIME, "a.1", "statement: x", "").into_bytes();
        text.extend(bytes);
        let _ = read(text);
    }
}

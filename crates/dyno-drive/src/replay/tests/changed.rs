//! Logs that are not what a scan has read.

use super::*;

fn cut_to_half(path: &std::path::Path) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(std::fs::metadata(path).unwrap().len() / 2).unwrap();
}

#[test]
fn a_log_that_is_cut_during_a_replay_fails_it() {
    let path = log("cut", 40, 1, 5);
    // Without its size and its file, the start accepts any log.
    let plan = planned(&path, json!({"log": path, "writes": true}), 0.0, 1.0);
    cut_to_half(&path);
    let error = replay(&plan, &Control::new()).unwrap_err();
    std::fs::remove_file(path).unwrap();
    std::fs::remove_file(&plan.spool).unwrap();
    assert_eq!(error.kind, ErrorKind::Usage);
}

#[test]
fn a_log_that_was_cut_or_replaced_since_its_scan_is_refused() {
    for (name, change) in [
        ("cut-before", &cut_to_half as &dyn Fn(&std::path::Path)),
        ("replaced", &|path| {
            let other = path.with_extension("other");
            std::fs::copy(path, &other).unwrap();
            std::fs::rename(other, path).unwrap();
        }),
    ] {
        let path = log(name, 40, 1, 5);
        let mut select = json!({"log": path, "writes": true});
        let found = scanned(&select);
        select["bytes"] = json!(found.bytes);
        select["file"] = json!(found.file);
        let plan = planned(&path, select, 0.0, 1.0);
        assert!(plan.select.chosen().is_ok());
        change(&path);
        let error = replay(&plan, &Control::new()).unwrap_err();
        std::fs::remove_file(path).unwrap();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(!plan.spool.exists(), "nothing began");
    }
}

#[test]
fn a_replay_that_the_user_ends_need_not_read_all() {
    let path = log("ended", 2_000, 10, 5);
    let plan = planned(&path, json!({"log": path, "writes": true}), 0.0, 1.0);
    let control = Control::new();
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(std::time::Duration::from_millis(1_500));
            control.finish();
        });
        replay(&plan, &control)
    });
    std::fs::remove_file(path).unwrap();
    std::fs::remove_file(&plan.spool).unwrap();
    assert!(outcome.unwrap().scheduled.unwrap() < plan.statements);
}

#[test]
fn a_session_without_statements_to_replay_takes_no_place() {
    let rows = [
        (0.0, "a.1", "shop", "statement: DEALLOCATE unknown"),
        (0.1, "a.2", "shop", "statement: select 1"),
    ];
    let path = said("places", &rows);
    let all = scanned(&json!({"log": path}));
    let found = scanned(&json!({"log": path, "most": 1, "ends": all.ends}));
    std::fs::remove_file(path).unwrap();
    assert_eq!((all.statements, all.at_once, found.statements), (1, 1, 1));
}

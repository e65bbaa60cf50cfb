"""Replays without a server: the null target runs each statement once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.replayed import REASONS
from dyno.stages.drive.replay import operations
from tests.process import document, dyno, spoilt
from tests.replay.logs import LAST, Said, as_csv, as_json, shop, written


def replayed(log: Path, out: Path, *more: str) -> dict[str, Any]:
    done = dyno("replay", log, "--target", "null:", "--out", out, "--json", *more)
    assert done.returncode in {0, 1}, done.stderr
    return document(done)


def counts(found: dict[str, Any]) -> dict[str, int]:
    """Statements by operation, as they were replayed."""
    (level,) = found["workloads"]["own_replay"]["levels"]
    return {name: one["count"] for name, one in level["operations"].items()}


def recorded(found: dict[str, Any]) -> dict[str, int]:
    """Statements by operation, as the log has them."""
    run = Bundle.open(Path(found["sheet"]).parent).run
    (phase,) = those(run.phases, OltpDetail)
    assert phase.detail.replayed is not None
    return {str(one.operation): one.count or 0 for one in phase.detail.replayed.classes}


@pytest.mark.parametrize("format_of", [as_csv, as_json])
def test_each_statement_is_replayed_once(
    tmp_path: Path, format_of: Callable[[list[Said]], str]
) -> None:
    log = written(tmp_path, format_of(shop(400)))
    found = replayed(log, tmp_path, "--speed", "2")
    assert counts(found) == recorded(found)
    assert counts(found) == {"begin": 100, "select_item": 100, "update_item": 100, "commit": 100}
    assert not spoilt(found) & {"workload-behind", "rate-not-sustained", "unsteady", "outage"}
    (level,) = found["workloads"]["own_replay"]["levels"]
    assert level["loop"]["kind"] == "log"
    assert level["unsent"] == 0


def test_a_dry_run_says_what_the_log_holds_and_runs_nothing(tmp_path: Path) -> None:
    said = [*shop(8), (0.1, "a.1", "statement: create user u password 'hunter2'")]
    log = written(tmp_path, as_csv(said))
    done = dyno("replay", log, "--target", "null:", "--out", tmp_path / "out", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "8 statements of 4 sessions" in done.stdout
    assert "select stock from item where id = ?" in done.stdout
    assert "the first is in line 9" in done.stdout
    assert "hunter2" not in done.stdout
    assert not (tmp_path / "out").exists()


def test_part_of_a_log(tmp_path: Path) -> None:
    log = written(tmp_path, as_csv(shop(400)))
    found = replayed(log, tmp_path, "--for", "100ms", "--speed", "2", "--reads-only")
    assert sum(counts(found).values()) == 76  # of 100 in 0.2 s, without 24 updates
    found = replayed(log, tmp_path, "--users", "1", "--speed", "4")
    assert sum(counts(found).values()) == 100


def test_a_session_that_only_reads_is_not_made_writable(tmp_path: Path) -> None:
    texts = (
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", "BEGIN READ WRITE", "RESET ALL",
        "SELECT 1",
    )  # fmt: skip
    said = [(n / 100, "a.1", f"statement: {text}") for n, text in enumerate(texts)]
    found = replayed(written(tmp_path, as_csv(said)), tmp_path, "--reads-only")
    assert sum(counts(found).values()) == 1
    sheet = Path(found["sheet"]).read_text(encoding="utf-8")
    assert REASONS["pinned"][1:] in sheet
    assert "<td>pinned" not in sheet


def test_the_span_counts_from_the_first_statement_to_replay(tmp_path: Path) -> None:
    rows = [(0, 2, "select 0"), *((2, 1, f"select {n}") for n in range(10)),
            *((4, 1, f"select {n}") for n in range(10)), (9, 2, "select 9")]  # fmt: skip
    text = "261126 14:42:00\t    1 Connect\tapp@localhost on shop using Socket\n"
    text += "\t\t    2 Connect\tapp@localhost on other using Socket\n"
    for second, session, sql in rows:
        text += f"261126 14:42:{second:02}\t    {session} Query\t{sql}\n"
    log = written(tmp_path, text + LAST)
    options = ("--database", "shop", "--for", "1s", "--speed", "2.5")
    assert sum(counts(replayed(log, tmp_path, *options)).values()) == 15


def test_use_moves_no_session(tmp_path: Path) -> None:
    text = (
        "261126 14:42:00\t    1 Connect\tapp@localhost on shop using Socket\n"
        "\t\t    1 Query\tselect 1 from a\n\t\t    1 Query\tUSE other\n"
        "\t\t    1 Query\tselect 1 from b\n"
    )
    log = written(tmp_path, text + LAST)
    assert counts(replayed(log, tmp_path, "--database", "shop")) == {"select_a": 1}
    assert counts(replayed(log, tmp_path, "--database", "other")) == {"select_b": 1}


def test_statements_of_an_unknown_database(tmp_path: Path) -> None:
    text = (
        "261126 14:42:00\t    2 Query\tselect 1 from b\n"
        "\t\t    1 Connect\tapp@localhost on shop using Socket\n"
        "\t\t    1 Query\tselect 1 from a\n"
    )
    log = written(tmp_path, text + LAST)
    where = (log, "--target", "null:", "--dry-run")
    for more, statements in (((), "2 statements"), (("--database", "shop"), "1 statement ")):
        done = dyno("replay", *where, *more)
        assert done.returncode == 0, done.stderr
        assert statements in done.stdout
        assert f"1 statement {REASONS['unknown']}" in done.stdout


def test_more_classes_than_operations_become_other(tmp_path: Path) -> None:
    said = [(n / 1000, "a.1", f"statement: select c{n % 30} from t") for n in range(90)]
    found = replayed(written(tmp_path, as_csv(said)), tmp_path)
    assert counts(found) == recorded(found)
    assert counts(found)["other"] == 30
    assert len(counts(found)) == 21


ROW = as_csv([(0, "a.1", "statement: select 1")])
REFUSED = {
    "": "the log is empty",
    "hello\n": "line 1: ",
    f"{ROW}2026-11-26 14:00:00.000 UTC,x\n{ROW}": "line 2: ",
    ROW.replace("statement: ", "Anweisung: "): "lc_messages",
    ROW + as_csv([(0, "a.2", "statement: select 1")], "other"): "--database",
    as_csv([(0, "a.1", "statement: drop table t")]): "in line 1",
    as_csv([(0, "a.1", "statement: drop user u")]): REASONS["never"],
    as_csv([(0, "a.1", "statement: reset all")]): REASONS["pinned"],
    "261126 14:00:00\t    1 Query\tselect 1\n261126 12:00:00\t    1 Query\tselect 1\n": "line 2: ",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_logs_that_are_refused(tmp_path: Path, text: str) -> None:
    log = written(tmp_path, text)
    done = dyno("replay", log, "--target", "null:", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert REFUSED[text].lower() in done.stderr.lower()
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_links_folders_and_wrong_targets_are_refused(tmp_path: Path) -> None:
    log = written(tmp_path, as_csv(shop(8)))
    link = tmp_path / "link.csv"
    link.symlink_to(log)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, target, word in (
        (link, "null:", "a link"),
        (tmp_path, "null:", "regular file"),
        (pipe, "null:", "regular file"),
        (tmp_path / "none", "null:", "does not exist"),
        (log, "mysql://u@localhost/shop", "another product"),
        (log, "sqlite:///tmp/x.db", "another product"),
    ):
        done = dyno("replay", path, "--target", target, "--out", tmp_path / "out")
        assert done.returncode == 2, done.stderr
        assert word in done.stderr


def test_a_replay_that_falls_behind_is_invalid(tmp_path: Path) -> None:
    # One session, a statement every 10 ms that takes 100 ms.
    said = [(n / 100, "a.1", f"statement: select {n}") for n in range(30)]
    log = written(tmp_path, as_csv(said))
    slow = "null:?mean_us=100000"
    done = dyno("replay", log, "--target", slow, "--out", tmp_path, "--json")
    found = document(done)
    assert done.returncode == 1
    assert "workload-behind" in spoilt(found)
    (level,) = found["workloads"]["own_replay"]["levels"]
    assert level["schedule_late_p99_ms"] > 1000
    assert level["late"] > 0


def test_names_of_classes() -> None:
    texts = [
        "select a from t where b = ?", "select c from t", 'insert into "Q x" values (?)',
        "update only s.item set a = ?", "begin", "", "other", "delete from 7up",
    ]  # fmt: skip
    assert operations(texts) == [
        "select_t", "select_t_2", "insert_q_x", "update_item", "begin", "empty", "s_other",
        "delete_7up",
    ]  # fmt: skip

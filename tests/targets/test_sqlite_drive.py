"""SQLite under transactions: who may have the file open, its settings, and its one writer."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.config import settings
from dyno.errors import TargetError
from dyno.targets.sqlite.apart import ApartSession
from dyno.targets.sqlite.target import SqliteTarget
from tests.process import document, dyno, spoilt, wait_until
from tests.targets.conftest import LIMITS

core = pytest.importorskip("dyno._core")

BUSY = {"unsteady", "client-bound"}
"""What a busy machine may say against a short run."""

# Changes, and the conditions that each violates. The eleventh holds only after a load.
PLANTED = {
    "UPDATE warehouse SET w_ytd = w_ytd + 5": {1, 8},
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 1": {2},
    "DELETE FROM new_order WHERE no_d_id = 2 AND no_o_id = "
    "(SELECT max(no_o_id) - 1 FROM new_order WHERE no_d_id = 2)": {3, 5},
    "DELETE FROM order_line WHERE ol_d_id = 1 AND ol_o_id = 1 AND ol_number = 1": {4, 6},
    "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 1 AND ol_o_id = 2": {7},
    "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 1": {1, 9},
    "UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 1 AND c_id = 1": {10, 12},
    "UPDATE stock SET s_ytd = s_ytd + 1 WHERE s_i_id = 1": {13},
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one warehouse, loaded as users load it."""
    file = tmp_path_factory.mktemp("lite") / "x.db"
    load = ("load", "tpcc", "--target", f"sqlite://{file}", "--scale", "1", "--json")
    done = dyno(*load, "--out", file.parent / "out")
    assert done.returncode in {0, 1}, done.stderr
    return file


@pytest.fixture
def lite(filled: Path) -> Iterator[SqliteTarget]:
    target = targets.open_target(targets.parse(f"sqlite://{filled}"), filled.parent, LIMITS)
    assert isinstance(target, SqliteTarget)
    with target:
        yield target


def drive(file: Path, *args: str) -> dict[str, Any]:
    """Runs transactions; everything about it must be right but for a busy machine's doing."""
    lasts = () if "--duration" in args else ("--duration", "3s")
    done = dyno(
        "run", "tpcc", "--target", f"sqlite://{file}", "--warmup", "1s", *lasts,
        "--json", "--out", file.parent / "out", *args,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    found = document(done)
    assert spoilt(found) <= BUSY, found["reasons"]
    return found


def test_transactions_are_driven_and_proven_with_the_writers_load(filled: Path) -> None:
    found = drive(filled, "--users", "4", "--set", "commit=relaxed")
    (level,) = found["tpcc"]["levels"]
    assert level["tps"] > 0
    assert level["errors"] == 0
    assert 0 < level["writer_busy_percent"] <= 100
    assert level["writer_wait_mean_ms"] > 0
    assert 0 < level["page_hit_percent"] < 100
    # Each commit writes some pages; nothing of one transaction exceeds its cache.
    assert level["page_writes_per_s"] > level["tps"]
    assert level["page_reads_per_s"] > 0
    assert level["page_spills_per_s"] == 0
    assert level["page_cache_bytes"] > 4096
    assert found["tpcc"]["consistency"] is True
    run = json.loads((Path(found["bundle"]) / "run.json").read_text())
    (phase,) = (phase for phase in run["phases"] if phase["kind"] == "oltp")
    assert len(phase["detail"]["outcome"]["ops"]) == 5
    shown = run["targets"]["sqlite"]["settings"]
    assert (shown["journal_mode"], shown["driver.synchronous"]) == ("wal", "normal")
    assert run["targets"]["sqlite"]["place"] == "process"
    report = (Path(found["bundle"]) / "sheet.html").read_text()
    assert "Page caches of the sessions" in report
    assert "Write lock held, %" in report.replace("\N{NO-BREAK SPACE}", " ")
    with closing(sqlite3.connect(filled)) as raw:
        # Each amount is still whole cents, and times are what they were.
        for table, column, kind in (
            ("customer", "c_balance", "integer"),
            ("history", "h_amount", "integer"),
            ("orders", "o_entry_d", "text"),
        ):
            sql = f"SELECT DISTINCT typeof({column}) FROM {table}"
            assert raw.execute(sql).fetchall() == [(kind,)]


def test_the_journal_mode_of_each_private_file_is_reported(tmp_path: Path) -> None:
    with targets.open_target(targets.parse("embedded:sqlite"), tmp_path, LIMITS) as target:
        target.create_tables("tpcc", replace=False)
        target.index("tpcc", threading.Event(), lambda *_: None)
        target.create_tables("tpch", replace=False)
        shown = target.facts().settings
    modes = {name: value for name, value in shown.items() if name.startswith("journal_mode of ")}
    assert modes == {"journal_mode of tpcc": "wal", "journal_mode of tpch": "delete"}


def test_settings_reach_the_driver(filled: Path) -> None:
    target = targets.open_target(targets.parse(f"sqlite://{filled}"), filled.parent, LIMITS)
    assert isinstance(target, SqliteTarget)
    target.tune(
        settings.parse(["memory=50MB", "commit=durable", "checkpoint_size=8MB"], None, None)
    )
    with target:
        plan = target.wire("tpcc")
    assert plan["settings"]["cache_size"] == -51200
    assert plan["settings"]["synchronous"] == 3
    assert plan["settings"]["wal_autocheckpoint"] == (8 << 20) // (4096 + 24)


def test_a_session_and_the_driver_exclude_each_other(lite: SqliteTarget) -> None:
    with closing(lite.connect("tpcc")), pytest.raises(TargetError, match="open"):
        lite.wire("tpcc")
    plan = {
        "wire": lite.wire("tpcc"), "seed": 1, "users": 2,
        "workload": {"kind": "tpcc", "params": {"warehouses": 1, "c_load": 7}},
        "loop": {"kind": "closed"}, "warmup_s": 0,
        "duration_s": 3600, "clock": {"unix_ns": 0, "monotonic_ns": 0}, "spool": "/dev/null",
    }  # fmt: skip
    control, caught = core.Control(), []

    def work() -> None:
        try:
            core.drive(json.dumps(plan), control)
        except core.EngineError as error:
            caught.append(error.args[0])

    thread = threading.Thread(target=work)
    thread.start()
    wait_until(lambda: control.progress()["done"] > 100, "transactions")
    with pytest.raises(TargetError, match="a run is active"):
        lite.connect("tpcc")
    control.cancel()
    thread.join(300)
    assert caught == ["cancelled"]
    with closing(lite.connect("tpcc")) as session:
        assert session.execute("SELECT count(*) FROM warehouse").rows == [(1,)]


@pytest.mark.long
@pytest.mark.parametrize(("name", "checks"), [("integrity-check", 10), ("reindex", 1)])
def test_maintenance_beside_transactions(filled: Path, name: str, checks: int) -> None:
    found = drive(filled, "--users", "2", "--duration", "1s", "--during", name)
    (entry,) = found["maintenance"]
    assert entry["error"] is None
    assert entry["rounds"] >= 1
    bundle = Path(found["bundle"])
    done = [
        item
        for item in json.loads((bundle / "checks.json").read_text())
        if item["name"].startswith(name)
    ]
    assert len(done) == checks
    assert all(item["passed"] for item in done)
    assert found["tpcc"]["consistency"] is True


def test_a_session_apart_reports_its_errors_and_can_be_stopped(lite: SqliteTarget) -> None:
    (file,) = lite.data_paths()
    with closing(ApartSession(file, {"cache_size": -100})) as session:
        assert session.execute("PRAGMA cache_size").rows == [(-100,)]
        assert session.execute("SELECT 'ä' AS x, NULL").columns == ["x", "NULL"]
        with pytest.raises(TargetError, match="no such table") as caught:
            session.execute("SELECT * FROM nowhere")
        assert caught.value.kind == "database"
        assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
        stopped: list[str] = []

        def work() -> None:
            try:
                session.execute(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                    "SELECT count(*) FROM n"
                )
            except TargetError as error:
                stopped.append(error.kind)

        thread = threading.Thread(target=work)
        thread.start()

        def ended() -> bool:
            session.cancel()
            return not thread.is_alive()

        wait_until(ended, "the statement to stop")
        assert stopped == ["timeout"]
    garbage = file.parent / "garbage"
    garbage.write_bytes(b"x" * 5000)
    with pytest.raises(TargetError, match="not a SQLite database"):
        ApartSession(garbage, {"cache_size": -100}).execute("SELECT * FROM sqlite_master")


def test_a_missing_load_is_reported_by_the_driver(lite: SqliteTarget, tmp_path: Path) -> None:
    plan = lite.wire("tpcc")
    empty = tmp_path / "empty.db"
    sqlite3.connect(empty).close()
    for path, kind in ((empty, "usage"), (tmp_path / "none.db", "io")):
        request = {
            "wire": {**plan, "path": str(path)}, "seed": 1, "users": 1,
            "workload": {"kind": "tpcc", "params": {"warehouses": 1, "c_load": 1}},
            "loop": {"kind": "closed"}, "warmup_s": 0, "duration_s": 1,
            "clock": {"unix_ns": 0, "monotonic_ns": 0}, "spool": "/dev/null",
        }  # fmt: skip
        with pytest.raises(core.EngineError) as caught:
            core.drive(json.dumps(request), core.Control())
        assert caught.value.args[0] == kind, caught.value


@pytest.mark.long
def test_every_planted_violation_fails_the_check(filled: Path, tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(filled)) as source,
        closing(sqlite3.connect(tmp_path / "x.db")) as copy,
    ):
        source.backup(copy)
        for change in PLANTED:
            assert copy.execute(change).rowcount > 0, change
        copy.commit()
    check = ("check", "tpcc", "--target", f"sqlite://{tmp_path / 'x.db'}", "--json")
    done = dyno(*check, "--out", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    found = document(done)
    assert "inconsistent" in {reason["code"] for reason in found["reasons"]}
    checks = json.loads((Path(found["bundle"]) / "checks.json").read_text())
    failed = {item["name"] for item in checks if item["passed"] is False}
    assert failed == {f"condition {number}" for number in set().union(*PLANTED.values())}

"""SQLite: files, marks, rows by the compiled loader, answers like another engine's, errors."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno import targets, workloads
from dyno.bundle.reader import list_bundles
from dyno.contracts.target import Limits, Loaded, LoadPlan
from dyno.errors import DynoError, Interrupted, TargetError, UsageError
from dyno.targets.sqlite import ddl, file
from dyno.targets.sqlite import load as loading
from dyno.targets.sqlite.target import SqliteTarget
from dyno.workloads.answers import compare_engines
from dyno.workloads.sorting import out_of_order
from tests.process import dyno, end, start, wait_for_phase, wait_until
from tests.targets.conftest import LIMITS, load_only

core = pytest.importorskip("dyno._core")

SCALE = 0.01


def opened(text: str, out: Path, limits: Limits = LIMITS) -> SqliteTarget:
    target = targets.open_target(targets.parse(text), out, limits)
    assert isinstance(target, SqliteTarget)
    return target


@pytest.fixture
def lite(out: Path) -> Iterator[SqliteTarget]:
    with opened(f"sqlite://{out}/x.db", out) as target:
        yield target


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteTarget]:
    """The decision-support data with keys and indexes."""
    with opened("embedded:sqlite", tmp_path_factory.mktemp("lite")) as target:
        target.create_tables("tpch", replace=False)
        target.load(LoadPlan("tpch", SCALE, 1, 2), core.Control())
        target.index("tpch", threading.Event(), lambda *_: None)
        yield target


def test_settings_are_read_back(lite: SqliteTarget) -> None:
    facts = lite.facts()
    assert facts.version.startswith(f"SQLite {sqlite3.sqlite_version} (")
    assert facts.settings["cache_size"] == str(-(LIMITS.memory_bytes // 4 // 1024))
    assert facts.settings["threads"] == "2"
    assert facts.settings["journal_mode"] == "delete"
    assert facts.settings["synchronous"] == facts.settings["loader.synchronous"] == "full"
    assert facts.settings["loader"].startswith("SQLite 3.")
    assert facts.settings["driver"].removeprefix("SQLite ") in facts.version
    assert facts.settings["driver.synchronous"] == "full"
    assert Path(facts.settings["temp_directory"]).is_dir()
    assert lite.process_ids() == []


def test_rows_keys_and_statistics(filled: SqliteTarget) -> None:
    with closing(filled.connect("tpch")) as session:
        indexes = session.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        ).rows
        analysed = session.execute("SELECT DISTINCT tbl FROM sqlite_stat1").rows
        order = "SELECT rowid, o_orderkey FROM orders WHERE rowid <> o_orderkey"
        assert session.execute(order).rows == []  # stored by its key
    names = {f"dyno_{index.name}" for index in workloads.get("tpch").indexes}
    assert names | {"dyno_lineitem_pkey", "dyno_partsupp_pkey"} == {row[0] for row in indexes}
    assert len(analysed) == 8


def test_a_writer_and_a_reader_work_side_by_side(filled: SqliteTarget) -> None:
    with closing(filled.connect("tpch")) as one, closing(filled.connect("tpch")) as other:
        one.execute("BEGIN")
        (before,) = one.execute("SELECT count(*) FROM region").rows
        other.execute("INSERT INTO region VALUES (99, 'NOWHERE', '')")
        assert one.execute("SELECT count(*) FROM region").rows == [before]
        one.execute("COMMIT")
        other.execute("DELETE FROM region WHERE r_regionkey = 99")


def test_a_file_with_a_users_table_keeps_its_journal(lite: SqliteTarget) -> None:
    with closing(lite.connect()) as session:
        session.execute("CREATE TABLE mine (x)")
    lite.create_tables("tpch", replace=False)
    done = lite.index("tpch", threading.Event(), lambda *_: None)
    assert "write-ahead log" not in done
    assert lite.facts().settings["journal_mode"] == "delete"


def test_a_killed_load_leaves_the_journal_mode_of_a_users_file(lite: SqliteTarget) -> None:
    with closing(lite.connect()) as session:
        session.execute("CREATE TABLE mine (x)")
        session.execute("PRAGMA journal_mode = WAL")
    lite.create_tables("tpch", replace=False)
    # The mode is in the file, so a load that changed it could not restore it after a kill.
    assert "loader.journal_mode" not in lite.facts().settings
    load_only(lite, LoadPlan("tpch", SCALE, 1, 1), "nation")
    assert lite.facts().settings["journal_mode"] == "wal"


def test_loading_again_keeps_the_write_ahead_log(lite: SqliteTarget) -> None:
    for replace in (False, True):
        lite.create_tables("tpch", replace=replace)
        load_only(lite, LoadPlan("tpch", SCALE, 1, 1), "nation")
        assert "write-ahead log" in lite.index("tpch", threading.Event(), lambda *_: None)
        assert lite.facts().settings["journal_mode"] == "wal"


def test_answers_are_those_of_another_engine(filled: SqliteTarget, out: Path) -> None:
    workload = workloads.get("tpch")
    differ: list[str] = []
    with targets.open_target(targets.parse("embedded:duckdb"), out, LIMITS) as other:
        other.create_tables("tpch", replace=False)
        other.load(LoadPlan("tpch", SCALE, 1, 2), core.Control())
        with closing(filled.connect("tpch")) as lite, closing(other.connect("tpch")) as duck:
            for query in workload.queries:
                for parameters in (query.validation(SCALE), query.draw(1, SCALE)):
                    neutral = query.text(parameters)
                    rows = lite.execute(filled.sql("tpch", query.name, neutral)).rows
                    expected = duck.execute(neutral).rows
                    differ += [
                        f"{query.name} {parameters}: {item}"
                        for item in (
                            *compare_engines(rows, expected, query.rules),
                            *filter(None, [out_of_order(query, rows)]),
                        )
                    ]
    assert not differ


def test_amounts_of_transactions_are_exact(lite: SqliteTarget) -> None:
    lite.create_tables("tpcc", replace=False)
    load_only(lite, LoadPlan("tpcc", 1, 1, 2), "warehouse", "district", "history")
    with closing(lite.connect("tpcc")) as session:
        kinds = session.execute("SELECT DISTINCT typeof(w_ytd), w_ytd FROM warehouse").rows
        assert kinds == [("integer", 30_000_000)]
        assert session.execute("SELECT SUM(h_amount) FROM history").rows == [(30_000_000,)]
        times = session.execute("SELECT DISTINCT length(h_date) FROM history").rows
        assert times == [(len("2026-01-01 00:00:00"),)]


def test_tables_are_made_marked_and_replaced_only_with_leave(
    lite: SqliteTarget, items: str
) -> None:
    assert lite.loaded(items) is None
    lite.create_tables(items, replace=False)
    assert lite.loaded(items) == Loaded(0.0, 0, complete=False)
    lite.mark(items, Loaded(2.0, 9, complete=True))
    assert lite.loaded(items) == Loaded(2.0, 9, complete=True)
    with pytest.raises(UsageError, match="--replace"):
        lite.create_tables(items, replace=False)
    lite.create_tables(items, replace=True)
    assert lite.loaded(items) == Loaded(0.0, 0, complete=False)


def test_what_is_the_users_stays(lite: SqliteTarget, items: str) -> None:
    lite.create_tables(items, replace=False)
    lite.mark(items, Loaded(2.0, 9, complete=True))
    with closing(lite.connect()) as session:
        session.execute("CREATE TABLE mine AS SELECT 5 AS x")
    lite.create_tables(items, replace=True)
    with closing(lite.connect()) as session:
        assert session.execute("SELECT x FROM mine").rows == [(5,)]
        session.execute("DROP TABLE log")
        session.execute("CREATE VIEW LOG AS SELECT 1 AS x")  # names have no case
    for replace in (False, True):
        with pytest.raises(UsageError, match=r"did not create \(log\)"):
            lite.create_tables(items, replace=replace)
    assert lite.loaded(items) == Loaded(0.0, 0, complete=False)


def test_a_users_table_of_marks_is_not_taken_for_dynos(lite: SqliteTarget, items: str) -> None:
    with closing(lite.connect()) as session:
        session.execute("CREATE TABLE dyno_mark (x)")
    assert lite.loaded(items) is None
    with pytest.raises(UsageError, match="dyno_mark"):
        lite.create_tables(items, replace=True)


def test_a_second_workload_needs_a_file_of_its_own(lite: SqliteTarget) -> None:
    lite.create_tables("tpch", replace=False)
    with pytest.raises(UsageError, match=r"Dyno's tpch tables \(customer, orders"):
        lite.create_tables("tpcc", replace=True)


def test_replacing_gives_the_space_back(lite: SqliteTarget) -> None:
    (path,) = lite.data_paths()
    lite.create_tables("tpch", replace=False)
    load_only(lite, LoadPlan("tpch", SCALE, 1, 1), "part")
    full = path.stat().st_size
    lite.create_tables("tpch", replace=True)
    assert path.stat().st_size < full / 2


def test_an_unknown_type_is_a_fault_of_dyno() -> None:
    with pytest.raises(DynoError, match="blob"):
        ddl.column_type({"type": "blob"}, exact=False)


def test_a_load_and_a_session_exclude_each_other(lite: SqliteTarget) -> None:
    lite.create_tables("tpch", replace=False)
    plan = LoadPlan("tpch", 0.5, 1, 1)
    with closing(lite.connect()), pytest.raises(TargetError, match="open"):
        lite.load(plan, core.Control())
    control, caught = core.Control(), []

    def work() -> None:
        try:
            lite.load(plan, control)
        except core.EngineError as error:
            caught.append(error.args[0])

    thread = threading.Thread(target=work)
    thread.start()
    wait_until(lambda: control.progress()["done"], "rows")
    with pytest.raises(TargetError, match="a load is running"):
        lite.connect()
    control.cancel()
    thread.join(300)
    assert caught == ["cancelled"]
    with closing(lite.connect("tpch")) as session:
        assert session.execute("SELECT count(*) FROM part").rows == [(0,)]


def test_a_killed_load_leaves_no_row_and_says_so(out: Path) -> None:
    path = out / "x.db"
    load = ("load", "tpch", "--target", f"sqlite://{path}", "--scale", "1", "--out", out / "o")
    process = start(*load)
    wait_for_phase(process, out / "o", "load-tpch")
    wait_until(lambda: path.exists() and path.stat().st_size > 2e6, "rows in the file")
    os.kill(process.pid, signal.SIGKILL)
    assert end(process)[0] == -signal.SIGKILL
    run = dyno("run", "tpch", "--target", f"sqlite://{path}", "--out", out / "o")
    assert run.returncode == 3
    assert "is incomplete" in run.stderr
    with opened(f"sqlite://{path}", out) as target, closing(target.connect()) as session:
        assert session.execute("SELECT count(*) FROM part").rows == [(0,)]


def test_ctrl_c_during_the_keys_is_an_interruption(out: Path) -> None:
    path = out / "x.db"
    load = ("load", "tpch", "--target", f"sqlite://{path}", "--scale", "0.1", "--out", out / "o")
    process = start(*load)
    wait_for_phase(process, out / "o", "index-tpch")
    os.kill(process.pid, signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    (bundle,) = list_bundles(out / "o")
    assert bundle.run.status == "interrupted"
    with opened(f"sqlite://{path}", out) as target:
        found = target.loaded("tpch")
        assert found is not None
        assert not found.complete


def test_adding_keys_stops_when_asked(lite: SqliteTarget) -> None:
    lite.create_tables("tpch", replace=False)
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        lite.index("tpch", stop, lambda *_: None)


def test_a_statement_is_cancelled_from_another_thread(lite: SqliteTarget) -> None:
    caught: list[str] = []
    session = lite.connect()

    def run() -> None:
        try:
            session.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                "SELECT count(*) FROM n"
            )
        except TargetError as error:
            caught.append(error.kind)

    thread = threading.Thread(target=run)
    thread.start()

    def stopped() -> bool:
        session.cancel()
        return not thread.is_alive()

    wait_until(stopped, "the statement to stop")
    assert caught == ["timeout"]
    assert session.execute("SELECT 1").rows == [(1,)]
    session.close()


@pytest.mark.parametrize(
    ("prepare", "statement", "kind"),
    [
        ("SELECT 1", "SELECT nonsense", "database"),
        ("PRAGMA query_only = ON", "CREATE TABLE t (x)", "denied"),
        ("PRAGMA max_page_count = 3", "CREATE TABLE t AS SELECT zeroblob(99999)", "disk_full"),
    ],
)
def test_errors_are_classed(lite: SqliteTarget, prepare: str, statement: str, kind: str) -> None:
    with closing(lite.connect()) as session:
        session.execute(prepare)
        with pytest.raises(TargetError) as caught:
            session.execute(statement)
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)


def test_a_damaged_file_is_reported(lite: SqliteTarget) -> None:
    (path,) = lite.data_paths()
    with closing(lite.connect()) as session:
        session.execute(
            "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
            "LIMIT 5000) SELECT i FROM n"
        )
    with path.open("r+b") as damaged:
        damaged.seek(4096)
        damaged.write(b"x" * 20_000)
    with closing(lite.connect()) as session, pytest.raises(TargetError) as caught:
        session.execute("SELECT sum(i) FROM t")
    assert caught.value.kind == "io"
    assert "damaged" in str(caught.value)


def test_a_file_that_another_process_holds(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "BUSY_TIMEOUT_S", 0.05)
    monkeypatch.setitem(loading.SETTINGS, "busy_timeout", 50)
    path = out / "x.db"
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for line in sys.stdin: c.execute(line); print('done', flush=True)"
    )
    with opened(f"sqlite://{path}", out) as target:
        target.create_tables("tpch", replace=False)
        holder = subprocess.Popen(
            [sys.executable, "-c", script, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert holder.stdin is not None
        assert holder.stdout is not None

        def held(statement: str) -> None:
            assert holder.stdin is not None
            assert holder.stdout is not None
            print(statement, file=holder.stdin, flush=True)
            assert holder.stdout.readline() == "done\n"

        try:
            held("BEGIN IMMEDIATE")
            with pytest.raises(TargetError) as caught:
                target.create_tables("tpch", replace=True)
            assert caught.value.kind == "lock_timeout"
            assert "another process" in str(caught.value)
            with pytest.raises(core.EngineError) as refused:
                target.load(LoadPlan("tpch", SCALE, 1, 1), core.Control())
            assert refused.value.args[0] == "lock_timeout"
            held("COMMIT")
            held("BEGIN EXCLUSIVE")
            with pytest.raises(TargetError, match="locked by another process"):
                target.connect()
        finally:
            holder.communicate("")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no/such/folder/x.db", "No such folder"),
        ("garbage.db", "is not a SQLite database"),
        ("folder", "is a folder"),
    ],
)
def test_a_file_that_cannot_be_opened(out: Path, name: str, words: str) -> None:
    (out / "garbage.db").write_bytes(b"x" * 5000)
    (out / "folder").mkdir()
    with pytest.raises(TargetError, match=words) as caught, opened(f"sqlite://{out}/{name}", out):
        pass
    assert name.partition("/")[0] in str(caught.value)
    assert caught.value.exit_code == 3


def test_looking_at_a_missing_file_does_not_make_it(out: Path) -> None:
    with opened(f"sqlite://{out}/x.db", out) as target:
        assert target.facts().settings["page_size"] == "4096"
        assert target.loaded("tpch") is None
    assert not (out / "x.db").exists()

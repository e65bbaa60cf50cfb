"""DuckDB: opened within limits, marked tables, Arrow in, errors reported."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from dyno import targets
from dyno.contracts.target import Limits, Loaded, LoadPlan
from dyno.errors import DynoError, Interrupted, TargetError, UsageError
from dyno.targets.duckdb.ddl import column_type, create_table
from dyno.targets.duckdb.load import insert
from dyno.targets.duckdb.target import DuckdbTarget
from tests.process import wait_until
from tests.targets.conftest import LIMITS, column


def opened(text: str, out: Path, limits: Limits = LIMITS) -> DuckdbTarget:
    target = targets.open_target(targets.parse(text), out, limits)
    assert isinstance(target, DuckdbTarget)
    return target


@pytest.fixture
def duck(out: Path) -> Iterator[DuckdbTarget]:
    with opened("embedded:duckdb", out) as target:
        yield target


def test_it_is_opened_within_the_limits_and_keeps_its_data(out: Path) -> None:
    with opened("embedded:duckdb", out) as target:
        facts = target.facts()
        assert facts.version.startswith("DuckDB ")
        assert facts.settings["threads"] == "2"
        assert facts.settings["memory_limit"] == "256.0 MiB"
        assert facts.settings["temp_directory"] == f"{target.data_paths()[0]}.tmp"
        assert target.process_ids() == []
        with closing(target.connect()) as session:
            session.execute("CREATE TABLE kept AS SELECT 5 AS x")
    with opened("embedded:duckdb", out) as target, closing(target.connect()) as session:
        assert session.execute("SELECT x FROM kept").rows == [(5,)]


def test_transactions_are_declined_with_the_reason(duck: DuckdbTarget) -> None:
    assert "one writer" in str(duck.capabilities.oltp)
    with pytest.raises(UsageError, match="one writer"):
        duck.wire()


def test_values_are_pythons_own(duck: DuckdbTarget) -> None:
    with closing(duck.connect()) as session:
        result = session.execute("SELECT 1 AS a, 1.50::DECIMAL(5,2), 'x', DATE '2020-02-03', NULL")
        assert result.columns[0] == "a"
        assert result.rows == [(1, Decimal("1.50"), "x", datetime.date(2020, 2, 3), None)]


def test_tables_are_made_marked_and_replaced_only_with_leave(
    duck: DuckdbTarget, items: str
) -> None:
    assert duck.loaded(items) is None
    duck.create_tables(items, replace=False)
    duck.mark(items, Loaded(2.0, 9, complete=True))
    assert duck.loaded(items) == Loaded(2.0, 9, complete=True)
    with pytest.raises(UsageError, match="--replace"):
        duck.create_tables(items, replace=False)
    duck.create_tables(items, replace=True)
    assert duck.loaded(items) == Loaded(0.0, 0, complete=False)
    with closing(duck.connect(items)) as session:
        session.execute("DROP TABLE log")
        session.execute("CREATE TABLE log (x INTEGER)")
    for replace in (False, True):
        with pytest.raises(UsageError, match=r"did not create \(log\)"):
            duck.create_tables(items, replace=replace)


def test_an_unknown_type_is_a_fault_of_dyno() -> None:
    with pytest.raises(DynoError, match="blob"):
        column_type({"type": "blob"})


def test_only_prose_is_given_a_compression() -> None:
    columns = [column("id", {"type": "int32"}), column("said", {"type": "varchar", "max": 9})]
    columns[1]["prose"] = True
    assert create_table("s", {"name": "t", "columns": columns}) == (
        'CREATE TABLE "s"."t" ("id" INTEGER NOT NULL, '
        '"said" VARCHAR NOT NULL USING COMPRESSION zstd)'
    )


def test_a_signal_in_the_main_thread_is_ctrl_c_and_no_fault(duck: DuckdbTarget) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGUSR1, stop)
    sender = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with closing(duck.connect()) as session, pytest.raises(KeyboardInterrupt):
            sender.start()
            # It ends by itself: DuckDB looks for signals only where this thread has work to do.
            session.execute("SELECT count(*) FROM range(500000000) WHERE range % 7 = 3")
    finally:
        sender.join()
        signal.signal(signal.SIGUSR1, previous)


class Stream:
    """What the compiled half gives: nothing but an Arrow stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def test_rows_come_in_through_arrow(duck: DuckdbTarget, items: str) -> None:
    duck.create_tables(items, replace=False)
    rows = pa.table(
        {
            "i_id": pa.array(range(3), pa.int32()),
            "i_big": pa.array(range(3), pa.int64()),
            "i_price": pa.array([Decimal("1.25"), None, Decimal("2.00")], pa.decimal128(15, 2)),
            "i_code": pa.array(["a", "b", "c"]),
            "i_name": pa.array(["x", "y", "z"], pa.string_view()),
            "i_day": pa.array([datetime.date(2020, 1, 1)] * 3),
            'i "at"': pa.array([None] * 3, pa.timestamp("us")),
        }
    )
    with closing(duck.connect(items)) as session:
        assert insert(session, items, "item", Stream(rows)) == 3
        assert session.execute("SELECT sum(i_price), count(*) FROM item").rows == [
            (Decimal("3.25"), 3)
        ]
        with pytest.raises(TargetError, match="columns"):
            insert(session, items, "log", Stream(rows))
        assert session.execute("SELECT count(*) FROM log").rows == [(0,)]
    steps = duck.index(items, threading.Event(), lambda *_: None)
    assert set(steps) == {"analyse", "checkpoint", "space", "total"}


def test_finishing_stops_when_asked(duck: DuckdbTarget, items: str) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        duck.index(items, stop, lambda *_: None)


def test_a_statement_is_cancelled_from_another_thread(duck: DuckdbTarget) -> None:
    started, caught = threading.Event(), []
    session = duck.connect()

    def run() -> None:
        started.set()
        try:
            session.execute("SELECT count(*) FROM range(1000000000) a, range(1000000000) b")
        except TargetError as error:
            caught.append(error.kind)

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()

    def stopped() -> bool:
        session.cancel()
        return not thread.is_alive()

    wait_until(stopped, "the statement to stop")
    assert caught == ["timeout"]
    assert session.execute("SELECT 1").rows == [(1,)]
    session.close()


def test_too_little_memory_is_classed(out: Path) -> None:
    with (
        opened("embedded:duckdb", out, Limits(24 << 20, 2)) as target,
        closing(target.connect()) as session,
        pytest.raises(TargetError) as caught,
    ):
        session.execute("SELECT list(range) FROM range(30000000)")
    assert caught.value.kind == "out_of_memory"
    assert "\n" not in str(caught.value)


def test_a_file_that_another_process_has_open(out: Path) -> None:
    file = out / "x.duckdb"
    script = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); "
        "sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(TargetError) as caught, opened(f"duckdb://{file}", out):
            pass
        assert str(holder.pid) in str(caught.value)
        assert caught.value.exit_code == 3
    finally:
        holder.communicate("")


@pytest.mark.parametrize("name", ["no/such/folder/x.duckdb", "garbage.duckdb"])
def test_a_file_that_cannot_be_opened(out: Path, name: str) -> None:
    (out / "garbage.duckdb").write_bytes(b"x" * 5000)
    with pytest.raises(TargetError) as caught, opened(f"duckdb://{out}/{name}", out):
        pass
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_spilled_data_of_a_killed_dyno_goes(out: Path) -> None:
    spill = out / "engines" / "duckdb" / "dyno.duckdb.tmp"
    spill.mkdir(parents=True)
    (spill / "duckdb_temp_storage-0.tmp").write_bytes(b"x" * 100)
    with opened("embedded:duckdb", out, Limits(64 << 20, 2)) as target:
        assert not spill.exists()
        with closing(target.connect()) as session:  # and spilling still works
            session.execute(
                "CREATE TEMP TABLE t AS SELECT range, md5(range::VARCHAR) h FROM range(900000)"
            )
            assert session.execute("SELECT count(*) FROM (SELECT * FROM t ORDER BY h)").rows


def test_generated_rows_are_loaded(duck: DuckdbTarget) -> None:
    core = pytest.importorskip("dyno._core")
    duck.create_tables("tpch", replace=False)
    outcome = duck.load(LoadPlan("tpch", 0.01, 1, 2), core.Control())
    assert {table["table"] for table in outcome.tables} >= {"lineitem", "orders", "nation"}
    assert outcome.rows == sum(table["rows"] for table in outcome.tables)
    with closing(duck.connect("tpch")) as session:
        for table in outcome.tables:
            count = session.execute(f"SELECT count(*) FROM {table['table']}").rows[0][0]
            assert count == table["rows"] > 0

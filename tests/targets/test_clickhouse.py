"""ClickHouse through chdb: a process of its own, marked tables, Arrow in, errors reported."""

from __future__ import annotations

import datetime
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest

from dyno import targets
from dyno.contracts.target import Limits, Loaded, LoadPlan
from dyno.errors import DynoError, Interrupted, TargetError, UsageError
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import column_type, create_table
from dyno.targets.clickhouse.load import insert
from dyno.targets.clickhouse.target import ClickhouseTarget
from tests.conftest import missing
from tests.process import end, no_server_left, servers, start, wait_for_phase, wait_until
from tests.targets.conftest import LIMITS, column, load_only

ENDLESS = "SELECT count() FROM numbers(1000000000000) WHERE number % 7 = 3"
UNDER_WAY = "SELECT count() FROM system.processes WHERE query LIKE 'SELECT count() FROM numbers%'"


@pytest.fixture(autouse=True, scope="module")
def chdb() -> None:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)


def opened(text: str, out: Path, limits: Limits = LIMITS) -> ClickhouseTarget:
    target = targets.open_target(targets.parse(text), out, limits)
    assert isinstance(target, ClickhouseTarget)
    return target


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickhouseTarget]:
    """A running engine that tests may fill but not break."""
    out = tmp_path_factory.mktemp("clickhouse")
    with opened("embedded:clickhouse", out) as target:
        yield target
    no_server_left(out)


def loader(target: ClickhouseTarget) -> Callable[[int | None], ClickhouseConnection]:
    return lambda pipe: target._session(pipe=pipe)


def test_it_is_opened_within_the_limits_and_keeps_its_data(out: Path) -> None:
    with opened("embedded:clickhouse", out) as target:
        facts = target.facts()
        assert re.match(r"ClickHouse \d+\.\d+.* \(chdb\)", facts.version)
        assert facts.settings["max_threads"] == "2"
        assert facts.settings["max_memory_usage"] == str(LIMITS.memory_bytes)
        assert facts.settings["max_server_memory_usage"] == str(LIMITS.memory_bytes)
        assert facts.settings["max_bytes_before_external_sort"] == str(LIMITS.memory_bytes // 2)
        (pid,) = target.process_ids()
        assert [process.pid for process in servers(out)] == [pid]
        with closing(target.connect()) as session:
            session.execute("CREATE TABLE kept (x Int32) ENGINE = MergeTree ORDER BY x")
            session.execute("INSERT INTO kept VALUES (5)")
    assert not psutil.pid_exists(pid)
    assert target.process_ids() == []
    url = f"clickhouse://{out}/engines/clickhouse"
    with opened(url, out) as target, closing(target.connect()) as session:
        assert session.execute("SELECT x FROM kept").rows == [(5,)]


def test_two_directories_at_once(house: ClickhouseTarget, out: Path) -> None:
    with (
        opened("embedded:clickhouse", out) as other,
        closing(house.connect()) as one,
        closing(other.connect()) as two,
    ):
        two.execute("CREATE DATABASE apart")
        assert ("apart",) not in one.execute("SHOW DATABASES").rows


def test_transactions_are_declined_with_the_reason(house: ClickhouseTarget) -> None:
    assert "transactions" in str(house.capabilities.oltp)
    with pytest.raises(UsageError, match="transactions"):
        house.wire()


def test_values_are_pythons_own(house: ClickhouseTarget) -> None:
    with closing(house.connect()) as session:
        result = session.execute(
            "SELECT 1 AS a, toDecimal64('1.50', 2), 'größer', toDate('2020-02-03'), NULL, 0.5, "
            "sum(toDecimal64('0.10', 2)), count(), -3, "
            "toDateTime64('2020-02-03 04:05:06', 6, 'UTC')"
        )
        assert result.columns[0] == "a"
        assert result.rows == [
            (
                *(1, Decimal("1.50"), "größer", datetime.date(2020, 2, 3), None, 0.5),
                *(Decimal("0.10"), 1, -3, datetime.datetime(2020, 2, 3, 4, 5, 6)),
            )
        ]
        assert [type(value) for value in result.rows[0][:2]] == [int, Decimal]
        none = session.execute("SELECT 1 AS a, 'b' AS b WHERE 1 = 0")
        assert (none.columns, none.rows) == (["a", "b"], [])
        many = session.execute("SELECT number FROM numbers(200000) ORDER BY number DESC").rows
        assert many == [(number,) for number in range(199999, -1, -1)]


@pytest.mark.parametrize(
    ("neutral", "value"),
    [
        ("SELECT COUNT(*) WHERE CAST('0.07' AS DECIMAL(15,2)) <= 0.06 + 0.01", 1),
        ("SELECT SUM(x) FROM (SELECT 1 AS x) AS t WHERE x > 1", None),
        ("SELECT CAST(1 AS DECIMAL(15,2)) / CAST(8 AS DECIMAL(15,2))", 0.125),
        ("SELECT DATE '1998-12-01' - INTERVAL '90' DAY", datetime.date(1998, 9, 2)),
        ("SELECT b.y FROM (SELECT 1 AS x) AS a LEFT JOIN (SELECT 2 AS y) AS b ON x = y", None),
    ],
)
def test_statements_mean_what_standard_sql_means(
    house: ClickhouseTarget, neutral: str, value: Any
) -> None:
    with closing(house.connect()) as session:
        assert session.execute(house.sql("tpch", "q", neutral)).rows == [(value,)]


def test_tables_are_made_marked_and_replaced_only_with_leave(
    house: ClickhouseTarget, items: str
) -> None:
    assert house.loaded(items) is None
    house.create_tables(items, replace=False)
    house.mark(items, Loaded(2.0, 9, complete=True))
    assert house.loaded(items) == Loaded(2.0, 9, complete=True)
    with pytest.raises(UsageError, match="--replace"):
        house.create_tables(items, replace=False)
    house.create_tables(items, replace=True)
    assert house.loaded(items) == Loaded(0.0, 0, complete=False)
    with closing(house.connect(items)) as session:
        session.execute("DROP TABLE log SYNC")
        session.execute("CREATE TABLE log (x Int32) ENGINE = MergeTree ORDER BY x")
    for replace in (False, True):
        with pytest.raises(UsageError, match=r"did not create \(log\)"):
            house.create_tables(items, replace=replace)
    with closing(house.connect()) as session:
        session.execute("DROP DATABASE dyno_items SYNC")


def test_only_columns_that_may_be_null_are_nullable() -> None:
    columns = [
        column("id", {"type": "int32"}),
        column("a`b", {"type": "decimal", "precision": 9, "scale": 2}, nullable=True),
    ]
    table = {"name": "t", "columns": columns, "primary_key": ["id"]}
    assert create_table("s", table, "it's") == (
        "CREATE TABLE `s`.`t` (`id` Int32, `a\\`b` Nullable(Decimal(9, 2))) "
        "ENGINE = MergeTree ORDER BY (`id`) COMMENT 'it\\'s'"
    )
    with pytest.raises(DynoError, match="blob"):
        column_type(column("x", {"type": "blob"}))


class Stream:
    """What the compiled half gives: nothing but an Arrow stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def rows_of_items(day: datetime.date) -> pa.Table:
    return pa.table(
        {
            "i_id": pa.array(range(3), pa.int32()),
            "i_big": pa.array(range(3), pa.int64()),
            "i_price": pa.array([Decimal("1.25"), None, Decimal("2.00")], pa.decimal64(15, 2)),
            "i_code": pa.array(["a", "b", "c"]),
            "i_name": pa.array(["x", "y", "ß"], pa.string_view()),
            "i_day": pa.array([day] * 3),
            'i "at"': pa.array([None, None, datetime.datetime(2020, 1, 2)], pa.timestamp("us")),
        }
    )


def test_rows_come_in_through_arrow(house: ClickhouseTarget, items: str) -> None:
    house.create_tables(items, replace=False)
    rows = rows_of_items(datetime.date(2020, 1, 1))
    assert insert(loader(house), items, "item", Stream(rows)) == 3
    with closing(house.connect(items)) as session:
        assert session.execute("SELECT * FROM item ORDER BY i_id").rows[1:] == [
            (1, 1, None, "b", "y", datetime.date(2020, 1, 1), None),
            (2, 2, Decimal("2.00"), "c", "ß", datetime.date(2020, 1, 1),
             datetime.datetime(2020, 1, 2)),
        ]  # fmt: skip
        with pytest.raises(TargetError, match="i_id"):
            insert(loader(house), items, "log", Stream(rows))
        with pytest.raises(TargetError, match="range"):
            out_of_range = Stream(rows_of_items(datetime.date(1950, 1, 1)))
            insert(loader(house), items, "item", out_of_range)
        assert session.execute("SELECT count() FROM log").rows == [(0,)]
        assert session.execute("SELECT count() FROM item").rows == [(3,)]
        steps = house.index(items, threading.Event(), lambda *_: None)
        assert set(steps) == {"merge item", "merge log", "total", "space", "notes"}
        stop = threading.Event()
        stop.set()
        with pytest.raises(Interrupted):
            house.index(items, stop, lambda *_: None)
        session.execute("DROP DATABASE dyno_items SYNC")


def test_a_statement_is_cancelled_from_another_thread(house: ClickhouseTarget) -> None:
    caught: list[str] = []
    session, other = house.connect(), house.connect()

    def run() -> None:
        try:
            session.execute(ENDLESS)
        except TargetError as error:
            caught.append(error.kind)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: other.execute(UNDER_WAY).rows == [(1,)], "the statement to start")
    other.cancel()  # somebody else's, and nothing is under way in it
    assert other.execute("SELECT 1").rows == [(1,)]
    assert thread.is_alive()
    session.cancel()
    thread.join(300)
    assert caught == ["timeout"]
    assert session.execute("SELECT 1").rows == [(1,)]  # and nothing of the other's answer
    assert session.execute("SELECT getSetting('join_use_nulls')").rows == [(True,)]
    session.close()
    other.close()


@pytest.mark.parametrize(
    ("sql", "kind", "words"),
    [
        ("SELECT groupArray(number) FROM numbers(100000000)", "out_of_memory", "max_memory_usage"),
        ("SELEC 1", "database", "Syntax error"),
        ("SELECT * FROM nowhere", "database", "nowhere"),
        (f"{ENDLESS} SETTINGS max_execution_time = 0.1", "timeout", "imeout"),
    ],
)
def test_errors_are_classed_and_take_one_line(
    house: ClickhouseTarget, sql: str, kind: str, words: str
) -> None:
    with closing(house.connect()) as session, pytest.raises(TargetError) as caught:
        session.execute(sql)
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_large_grouping_spills_instead(house: ClickhouseTarget) -> None:
    with closing(house.connect()) as session:
        rows = session.execute(
            "SELECT count(), sum(length(s)) FROM (SELECT sipHash64(number) AS h, "
            "any(repeat('x', 200)) AS s FROM numbers(900000) GROUP BY h)"
        ).rows
        assert rows == [(900_000, 180_000_000)]
        spilled = "SELECT value FROM system.events WHERE event = 'ExternalAggregationWritePart'"
        assert session.execute(spilled).rows[0][0] > 0


def test_a_workload_that_was_never_loaded(house: ClickhouseTarget) -> None:
    with pytest.raises(TargetError, match="dyno_nothing"):
        house.connect("nothing")


def test_a_directory_that_another_process_has_open(house: ClickhouseTarget, out: Path) -> None:
    folder = house.data_paths()[0]
    with pytest.raises(TargetError) as caught, opened(f"clickhouse://{folder}", out):
        pass
    assert str(house.process_ids()[0]) in str(caught.value)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no/such/folder", "No such file"),
        ("letters", "not ClickHouse's"),
        ("letters/one.txt", "is a file"),
    ],
)
def test_a_directory_that_cannot_be_opened(out: Path, name: str, words: str) -> None:
    (out / "letters").mkdir()
    (out / "letters" / "one.txt").write_text("x")
    with (
        pytest.raises(TargetError, match=words) as caught,
        opened(f"clickhouse://{out}/{name}", out),
    ):
        pass
    assert name in str(caught.value)
    assert [path.name for path in (out / "letters").iterdir()] == ["one.txt"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("clickhouse://db1:9000/x", "not over the network"),
        ("clickhouse:", "has no directory"),
        ("clickhouse:///", "has no directory"),
        ("clickhouse:///a?max_threads=1", "has no directory"),
        ("clickhouse:///a%3Fb", "does not support"),
    ],
)
def test_a_url_that_names_no_directory(out: Path, url: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        opened(url, out)


def test_an_engine_that_is_killed_is_named(out: Path) -> None:
    with opened("embedded:clickhouse", out) as target:
        session, other = target.connect(), target.connect()
        (pid,) = target.process_ids()

        def strike() -> None:
            wait_until(lambda: other.execute(UNDER_WAY).rows == [(1,)], "the statement to start")
            os.kill(pid, signal.SIGKILL)

        striker = threading.Thread(target=strike)
        striker.start()
        with pytest.raises(TargetError) as caught:
            session.execute(ENDLESS)
        striker.join()
        assert caught.value.kind == "connection_lost"
        assert str(caught.value) == "ClickHouse was killed (signal 9: SIGKILL)."
        with pytest.raises(TargetError) as again:
            target.connect()
        assert again.value.kind == "connection_lost"


def test_the_engine_ends_with_a_dyno_that_is_killed(out: Path) -> None:
    script = (
        "import sys, threading; from pathlib import Path; from dyno import targets; "
        "from dyno.contracts.target import Limits; "
        "url = targets.parse('embedded:clickhouse'); "
        "target = targets.open_target(url, Path(sys.argv[1]), Limits(1 << 28, 2)).__enter__(); "
        "session = target.connect(); "
        "threading.Thread(target=session.execute, args=(sys.argv[2],)).start(); "
        "print(target.process_ids()[0], flush=True)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(out), ENDLESS], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    engine = psutil.Process(int(holder.stdout.readline()))
    holder.kill()
    holder.communicate()
    wait_until(lambda: not engine.is_running(), "the engine to end")


def test_rows_that_are_lost_without_an_error_are_missed(
    house: ClickhouseTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dyno.targets.clickhouse import load as loading

    house.create_tables("tpch", replace=True)
    plan = LoadPlan("tpch", 0.01, 1, 2)
    assert load_only(house, plan, "region").rows == 5
    # As on a full volume: all rows are reported as written, and none is stored.
    monkeypatch.setattr(loading, "insert", lambda *_: 5)
    with pytest.raises(TargetError, match="stored 0 of 5 rows of region") as caught:
        load_only(house, plan, "region")
    assert caught.value.kind == "database"
    monkeypatch.setattr(loading, "_LITTLE_BYTES", 1 << 62)
    with pytest.raises(TargetError, match="MiB of free space") as caught:
        load_only(house, plan, "region")
    assert caught.value.kind == "disk_full"


def test_a_load_is_cancelled(house: ClickhouseTarget) -> None:
    core = pytest.importorskip("dyno._core")
    house.create_tables("tpch", replace=True)
    control = core.Control()
    caught: list[BaseException] = []

    def load() -> None:
        try:
            house.load(LoadPlan("tpch", 3, 1, 2), control)
        except DynoError as error:
            caught.append(error)

    thread = threading.Thread(target=load)
    thread.start()
    wait_until(lambda: control.progress()["done"] > 100_000, "rows")
    control.cancel()
    thread.join(300)
    assert [type(error) for error in caught] == [Interrupted]
    with closing(house.connect("tpch")) as session:  # and the engine goes on
        assert session.execute("SELECT count() FROM nation").rows[0][0] in {0, 25}


def test_ctrl_c_during_a_load_ends_the_engine(out: Path) -> None:
    process = start("load", "tpch", "--target", "embedded:clickhouse", "--scale", "3", "--out", out)
    wait_for_phase(process, out, "load-tpch-clickhouse")
    os.kill(process.pid, signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    assert "Traceback" not in errors
    no_server_left(out)


def test_without_chdb_the_message_says_how_to_get_it(out: Path) -> None:
    (out / "sitecustomize.py").write_text("import sys; sys.modules['chdb'] = None\n")
    path = os.pathsep.join([str(out), *filter(None, [os.environ.get("PYTHONPATH")])])

    def dyno(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dyno", *words, "--out", str(out)],
            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False,
        )  # fmt: skip

    doctor = dyno("doctor", "embedded:clickhouse")
    assert doctor.returncode == 3
    machine, _, target = " ".join(doctor.stdout.split()).partition("MISSING target")
    assert "note clickhouse ClickHouse needs chdb" in machine
    assert "pip install 'dyno-bench[clickhouse]'" in target
    load = dyno("load", "tpch", "--scale", "0.01", "--target", "embedded:clickhouse")
    assert load.returncode == 3
    assert "pip install 'dyno-bench[clickhouse]'" in load.stderr
    assert "Traceback" not in load.stderr

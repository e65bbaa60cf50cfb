"""MariaDB as a target, on a real server."""

from __future__ import annotations

import datetime
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from dyno import _core, targets, workloads
from dyno.contracts import schema
from dyno.contracts.target import Loaded, LoadPlan
from dyno.errors import DatabaseError, DynoError, TargetError, UsageError
from dyno.targets.mysql import binaries
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.target import MysqlTarget
from dyno.workloads.answers import compare_engines
from dyno.workloads.sorting import out_of_order
from tests.mariadb import require_mariadb
from tests.process import wait_until
from tests.targets.conftest import LIMITS, embedded_mariadb, load_only

SMALL = LoadPlan("tpch", 0.01, seed=1, streams=2)


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    """A running server that tests may fill but not break."""
    with embedded_mariadb(tmp_path_factory.mktemp("my")) as target:
        yield target


@pytest.fixture
def admin(mariadb: MysqlTarget) -> Iterator[MysqlConnection]:
    with closing(mariadb.connect()) as session:
        yield session


@pytest.fixture
def guarded(
    admin: MysqlConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A user with a password and without a privilege."""
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    admin.execute("CREATE USER guarded@localhost IDENTIFIED BY 's3cret!'")
    yield "guarded"
    admin.execute("DROP USER guarded@localhost")


@pytest.fixture
def tpch(mariadb: MysqlTarget) -> MysqlTarget:
    """The server with the small workload loaded."""
    found = mariadb.loaded("tpch")
    if found is None or not found.complete:
        fill(mariadb)
    return mariadb


@pytest.fixture
def empty(mariadb: MysqlTarget) -> MysqlTarget:
    """The server with the tables of the small workload, without rows."""
    mariadb.create_tables("tpch", replace=True)
    return mariadb


def fill(target: MysqlTarget, plan: LoadPlan = SMALL) -> None:
    target.create_tables("tpch", replace=True)
    target.load(plan, _core.Control())
    target.index("tpch", threading.Event(), lambda *_: None)
    target.mark("tpch", Loaded(plan.scale, plan.seed, complete=True))


def at(mariadb: MysqlTarget, user: str = "root", more: str = "") -> MysqlTarget:
    """The private server as if it were somebody's own, by URL."""
    socket = quote(mariadb.wire()["unix_socket"], safe="")
    text = f"mysql://{user}@localhost/?unix_socket={socket}{more}"
    target = targets.open_target(targets.parse(text), Path("/nowhere"), LIMITS)
    assert isinstance(target, MysqlTarget)
    return target


def kind_of(work: Any) -> str:
    with pytest.raises(DynoError) as caught:
        work()
    assert "\n" not in str(caught.value)
    return caught.value.kind


def test_values_are_pythons_own(admin: MysqlConnection) -> None:
    result = admin.execute(
        "SELECT 1 AS a, 1.50, 'x', DATE '2020-02-03', NULL, 'ü%s', 'a' = 'A', 'a\\\\'"
    )
    assert result.columns[0] == "a"
    day = datetime.date(2020, 2, 3)
    assert result.rows == [(1, Decimal("1.50"), "x", day, None, "ü%s", 0, "a\\")]
    assert admin.execute("SET @x = 1").rows == []


def test_a_rejected_statement_leaves_the_session_usable(admin: MysqlConnection) -> None:
    with pytest.raises(DatabaseError, match=r"nothing.*error 1146"):
        admin.execute("SELECT * FROM mysql.nothing")
    assert admin.execute("SELECT 1").rows == [(1,)]


def test_a_statement_is_cancelled_from_another_thread(
    mariadb: MysqlTarget, admin: MysqlConnection
) -> None:
    caught: list[DynoError] = []
    with closing(mariadb.connect()) as session:

        def compute() -> None:
            try:
                session.execute("SELECT BENCHMARK(100000000000, MD5('x'))")
            except DynoError as error:
                caught.append(error)

        session.cancel()  # nothing is under way
        thread = threading.Thread(target=compute)
        thread.start()
        active = (
            "SELECT 1 FROM information_schema.processlist WHERE command = 'Query' "
            f"AND info LIKE 'SELECT BENCH%' AND id = {session.raw.thread_id()}"
        )
        wait_until(lambda: admin.execute(active).rows, "the statement")
        session.cancel()
        thread.join(300)
        assert [error.kind for error in caught] == ["timeout"]
        assert session.execute("SELECT 1").rows == [(1,)]


def test_a_session_ended_by_the_server_is_lost(
    mariadb: MysqlTarget, admin: MysqlConnection
) -> None:
    with closing(mariadb.connect()) as session:
        admin.execute(f"KILL {session.raw.thread_id()}")
        assert kind_of(lambda: session.execute("SELECT 1")) == "connection_lost"


def test_a_server_at_a_url(mariadb: MysqlTarget) -> None:
    with at(mariadb) as target:
        assert target.capabilities.load is True
        facts = target.facts()
        assert facts.version.startswith("MariaDB 1")
        assert facts.settings["innodb_flush_log_at_trx_commit"] == "1"
        assert int(facts.settings["innodb_buffer_pool_size"]) == LIMITS.memory_bytes // 2
        assert {"sync_binlog", "tmpdir", "innodb_log_file_size", "sql_mode"} <= set(facts.settings)
        assert target.process_ids() == mariadb.process_ids()
        assert target.data_paths()[0].resolve() == mariadb.data_paths()[0].resolve()
        assert target.wire("tpcc")["database"] == "dyno_tpcc"


def test_passwords(
    mariadb: MysqlTarget, guarded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(user: str) -> str:
        with pytest.raises(TargetError) as caught, at(mariadb, user):
            pass
        assert caught.value.kind == "denied"
        return str(caught.value)

    assert "using password: NO" in refused(guarded)
    message = refused(f"{guarded}:hunter2")
    assert "rejected" in message
    assert "hunter2" not in message
    with at(mariadb, f"{guarded}:s3cret%21") as target:
        assert "s3cret" not in target.url.redacted + str(target.facts())
    monkeypatch.setenv("MYSQL_PWD", "s3cret!")
    with at(mariadb, guarded) as target:
        assert target.wire()["password"] == "s3cret!"
    monkeypatch.delenv("MYSQL_PWD")
    (tmp_path / ".my.cnf").write_text('[client]\npassword = "s3cret!"\n')
    with at(mariadb, guarded):
        pass


def test_the_grant_that_is_shown_is_enough(
    mariadb: MysqlTarget, guarded: str, admin: MysqlConnection
) -> None:
    admin.execute("DROP DATABASE IF EXISTS dyno_tpch")
    with at(mariadb, f"{guarded}:s3cret%21") as target:
        with pytest.raises(TargetError, match="an administrator must run: GRANT") as caught:
            target.create_tables("tpch", replace=False)
        assert caught.value.kind == "denied"
        statement = str(caught.value).partition("must run: ")[2].partition(" [error")[0]
        assert r"`dyno\_tpch`.*" in statement
        admin.execute(statement)
        fill(target)
        assert target.loaded("tpch") == Loaded(0.01, 1, complete=True)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("mysql://u@127.0.0.1:1/d", "MariaDB/MySQL at 127.0.0.1:1 does not respond; start it"),
        ("mariadb://u@h/d?unix_socket=/nowhere/s", "/nowhere/s"),
        ("mysql://u@no-such-host.invalid/d", "cannot be resolved"),
    ],
)
def test_no_server(url: str, expected: str) -> None:
    target = targets.open_target(targets.parse(url), Path("/nowhere"), LIMITS)
    with pytest.raises(TargetError) as caught, target:
        pass
    assert caught.value.kind == "unreachable"
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_dynos_is_never_replaced(mariadb: MysqlTarget, admin: MysqlConnection) -> None:
    admin.execute("CREATE DATABASE dyno_tpcc")
    admin.execute("CREATE TABLE dyno_tpcc.item (mine INT) COMMENT 'not dyno'")
    admin.execute("CREATE VIEW dyno_tpcc.stock AS SELECT 1 AS mine")
    for replace in (False, True):
        with pytest.raises(UsageError, match=r"did not create \(item, stock\)"):
            mariadb.create_tables("tpcc", replace=replace)
    assert mariadb.loaded("tpcc") is None
    assert admin.execute("SELECT COUNT(*) FROM dyno_tpcc.item").rows == [(0,)]
    admin.execute("DROP DATABASE dyno_tpcc")


def test_marks_say_what_is_loaded(tpch: MysqlTarget, admin: MysqlConnection) -> None:
    assert tpch.loaded("tpch") == Loaded(0.01, 1, complete=True)
    with pytest.raises(UsageError, match="--replace"):
        tpch.create_tables("tpch", replace=False)
    tpch.mark("tpch", Loaded(0.01, 1, complete=False))
    assert tpch.loaded("tpch") == Loaded(0.01, 1, complete=False)
    tpch.mark("tpch", Loaded(0.01, 1, complete=True))


def test_the_answers_are_duckdbs(tpch: MysqlTarget, tmp_path: Path) -> None:
    workload = workloads.get("tpch")
    with targets.open_target(targets.parse("embedded:duckdb"), tmp_path, LIMITS) as other:
        other.create_tables("tpch", replace=False)
        other.load(SMALL, _core.Control())
        with closing(tpch.connect("tpch")) as mine, closing(other.connect("tpch")) as peer:
            for query in workload.queries:
                text = query.text(query.validation(SMALL.scale))
                rows = mine.execute(tpch.sql("tpch", query.name, text)).rows
                expected = peer.execute(other.sql("tpch", query.name, text)).rows
                assert not compare_engines(rows, expected, query.rules), query.name
                assert out_of_order(query, rows) is None, query.name


def test_streams_change_nothing_and_an_interrupted_load_starts_again(
    tpch: MysqlTarget, admin: MysqlConnection
) -> None:
    tables = ", ".join(f"dyno_tpch.{name}" for name in schema.table_names("tpch"))
    before = admin.execute(f"CHECKSUM TABLE {tables}").rows
    tpch.create_tables("tpch", replace=True)
    tpch.mark("tpch", Loaded(0.01, 1, complete=False))
    control = _core.Control()
    caught: list[str] = []

    def load() -> None:
        try:
            tpch.load(LoadPlan("tpch", 0.3, seed=1, streams=1), control)
        except _core.EngineError as error:
            caught.append(str(error))

    thread = threading.Thread(target=load)
    thread.start()
    wait_until(lambda: int(control.progress()["done"]) > 0, "rows")
    control.cancel()
    thread.join(300)
    assert "interrupted" in str(caught)
    # A part is there whole or not at all. That the tables can be dropped below shows that nobody
    # holds them any more.
    assert admin.execute("SELECT COUNT(*) FROM dyno_tpch.lineitem").rows == [(0,)]
    assert tpch.loaded("tpch") == Loaded(0.01, 1, complete=False)
    fill(tpch, LoadPlan("tpch", 0.01, seed=1, streams=1))
    assert admin.execute(f"CHECKSUM TABLE {tables}").rows == before


def test_a_row_that_the_server_alters_fails_the_load(
    empty: MysqlTarget, admin: MysqlConnection
) -> None:
    count = "SELECT COUNT(*) FROM dyno_tpch.region"
    load_only(empty, SMALL, "region")
    with pytest.raises(_core.EngineError, match="Duplicate entry"):
        load_only(empty, SMALL, "region")
    assert admin.execute(count).rows == [(5,)]
    admin.execute("DELETE FROM dyno_tpch.region")
    admin.execute("ALTER TABLE dyno_tpch.region MODIFY r_name CHAR(4) NOT NULL")
    with pytest.raises(_core.EngineError, match="r_name"):
        load_only(empty, SMALL, "region")
    assert admin.execute(count).rows == [(0,)]


def test_a_table_that_is_missing_stops_the_load(empty: MysqlTarget, admin: MysqlConnection) -> None:
    admin.execute("DROP TABLE dyno_tpch.lineitem")
    with pytest.raises(_core.EngineError, match="create the tables first"):
        empty.load(SMALL, _core.Control())


def test_refused_local_infile_says_how_to_allow_it(
    empty: MysqlTarget, admin: MysqlConnection
) -> None:
    names = admin.execute("SHOW TABLES IN dyno_tpch").rows
    admin.execute("SET GLOBAL local_infile = 0")
    try:
        with pytest.raises(TargetError, match="SET GLOBAL local_infile = 1"):
            empty.create_tables("tpch", replace=True)
        assert admin.execute("SHOW TABLES IN dyno_tpch").rows == names
        with pytest.raises(_core.EngineError, match="SET GLOBAL local_infile = 1"):
            empty.load(SMALL, _core.Control())
    finally:
        admin.execute("SET GLOBAL local_infile = 1")


def test_work_that_is_stopped_while_indexing(empty: MysqlTarget) -> None:
    stop = threading.Event()
    stop.set()
    assert kind_of(lambda: empty.index("tpch", stop, lambda *_: None)) == "cancelled"


def test_tls_is_demanded_or_refused_in_words(mariadb: MysqlTarget) -> None:
    secure = at(mariadb, more="&ssl=1")
    assert "TLS over TCP only" in str(secure.capabilities.load)
    with pytest.raises(TargetError, match="SSL"), secure:
        pass
    plan = {"wire": secure.wire("tpch"), "workload": "tpch", "scale": 0.01, "seed": 1}
    with pytest.raises(_core.EngineError, match="TLS over a unix socket is not supported"):
        _core.load(json.dumps({**plan, "streams": 1, "tables": ["nation"]}), _core.Control())


def test_a_killed_server_is_a_lost_connection_and_a_load_starts_again(tmp_path: Path) -> None:
    with embedded_mariadb(tmp_path) as target:
        target.create_tables("tpch", replace=False)
        target.mark("tpch", Loaded(0.2, 1, complete=False))
        control = _core.Control()
        caught: list[BaseException] = []

        def watch(work: Any, *arguments: Any) -> threading.Thread:
            def run() -> None:
                try:
                    work(*arguments)
                except (DynoError, _core.EngineError) as error:
                    caught.append(error)

            thread = threading.Thread(target=run)
            thread.start()
            return thread

        endless = "SELECT BENCHMARK(100000000000, MD5('x'))"
        threads = [
            watch(target.connect().execute, endless),
            watch(at(target).connect().execute, endless),
            watch(target.load, LoadPlan("tpch", 0.2, seed=1, streams=2), control),
        ]
        busy = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT BENCH%'"
        with closing(target.connect()) as observer:
            wait_until(lambda: observer.execute(busy).rows == [(2,)], "both statements")
        wait_until(lambda: int(control.progress()["done"]) > 0, "rows")
        os.kill(target.process_ids()[0], signal.SIGKILL)
        for thread in threads:
            thread.join(300)
        assert [getattr(error, "kind", "") for error in caught] == ["connection_lost"] * 3
        # The session by URL knows only that it broke.
        assert sum("was killed (signal 9)" in str(error) for error in caught) == 2
        assert target.process_ids() == []
    with embedded_mariadb(tmp_path) as again:  # it recovers
        assert again.loaded("tpch") == Loaded(0.2, 1, complete=False)
        fill(again)
        assert again.loaded("tpch") == Loaded(0.01, 1, complete=True)


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    require_mariadb()
    home = tmp_path / "engines" / "mysql"
    (home / "data").mkdir(parents=True)
    (home / "data" / "mysql_upgrade_info").write_text("10.1.1-MariaDB")
    with (
        pytest.raises(TargetError, match=r"MariaDB 10\.1\.1.*dyno clean"),
        embedded_mariadb(tmp_path),
    ):
        pass
    version = binaries.find().version
    (home / "data" / "mysql_upgrade_info").write_text(
        ".".join(map(str, version.number)) + "-MariaDB"
    )
    (home / "data" / "ibdata1").write_bytes(b"no database")
    with (
        pytest.raises(TargetError, match="MariaDB did not start: InnoDB: "),
        embedded_mariadb(tmp_path),
    ):
        pass


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(binaries, "_which", lambda *names: None)
    target = targets.open_target(targets.parse("embedded:mysql"), tmp_path, LIMITS)
    with pytest.raises(TargetError, match="apt install mariadb-server"), target:
        pass


def test_the_wire_is_what_the_compiled_half_takes(mariadb: MysqlTarget) -> None:
    wire = mariadb.wire("tpch")
    plan = {"wire": wire, "workload": "tpch", "scale": 0.01, "seed": 1, "streams": 0}
    with pytest.raises(_core.EngineError, match="streams is 0"):
        _core.load(json.dumps(plan), _core.Control())

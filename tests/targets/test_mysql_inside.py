"""What a MariaDB without ``performance_schema`` reports about itself: planted loads are found."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from dyno import targets
from dyno.bundle.inside import Inside
from dyno.contracts.inspection import Inspection
from dyno.contracts.meter import QueryMeter
from dyno.contracts.probe import TargetProbe
from dyno.errors import DynoError
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.target import MysqlTarget
from tests.busy import others_work
from tests.process import wait_until
from tests.targets.conftest import LIMITS, ask, embedded_mariadb

SECOND_NS = 1_000_000_000
READINGS = 10
"""Readings of sessions in one sample."""


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    with embedded_mariadb(tmp_path_factory.mktemp("inside")) as target:
        ask(target, "CREATE DATABASE planted")
        ask(target, "CREATE TABLE planted.hot (i INT PRIMARY KEY, v INT NOT NULL)")
        ask(target, "INSERT INTO planted.hot VALUES (1, 0), (2, 0)")
        ask(target, "CREATE TABLE planted.log (i INT AUTO_INCREMENT PRIMARY KEY, v INT)")
        yield target


@contextlib.contextmanager
def probe_of(target: MysqlTarget, name: str) -> Generator[TargetProbe]:
    (probe,) = [one for one in target.probes() if one.name == name]
    with closing(probe):
        yield probe


class Database:
    """Readings of the probe ``database``, a second apart by its clock."""

    def __init__(self, probe: TargetProbe) -> None:
        self._probe, self._now_ns = probe, 0

    def read(self) -> dict[str, float]:
        self._now_ns += SECOND_NS
        return {one.metric: one.value for one in self._probe.read(self._now_ns)}


def sessions(probe: TargetProbe) -> dict[str, float]:
    """One sample: the mean sessions by wait."""
    found = next(filter(None, (probe.read(0) for _ in range(2 * READINGS))))
    assert {(one.source, one.subject, one.unit) for one in found} == {
        ("sessions", "mysql", "count")
    }
    return {one.metric: one.value for one in found}


@contextlib.contextmanager
def users(target: MysqlTarget, count: int, work: Callable[[MysqlConnection], object]) -> Any:
    """Sessions that repeat ``work`` until the block ends."""
    stop = threading.Event()

    def run() -> None:
        with closing(target.connect()) as session:
            while not stop.is_set():
                work(session)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_an_idle_server_has_one_sample(mariadb: MysqlTarget) -> None:
    # The other probes are Dyno's own, too.
    with probe_of(mariadb, "sessions") as probe, probe_of(mariadb, "database") as other:
        other.read(0)
        wait_until(lambda: sessions(probe) == {"cpu/running": 0}, "other sessions to end")


def test_commits_and_log_bytes_are_those_of_the_load(mariadb: MysqlTarget) -> None:
    with probe_of(mariadb, "database") as probe, closing(mariadb.connect()) as user:
        database = Database(probe)
        first = database.read()
        assert Inside.commits not in first
        assert first[Inside.memory] > 1_000_000
        for _ in range(50):
            user.execute("BEGIN")
            user.execute(f"INSERT INTO planted.log (v) VALUES ({'1' * 9})")
            user.execute("COMMIT")
        for _ in range(3):
            user.execute("BEGIN")
            user.execute("INSERT INTO planted.log (v) VALUES (1)")
            user.execute("ROLLBACK")
        busy = database.read()
        assert busy[Inside.commits] == 50
        assert busy[Inside.rollbacks] == 3
        assert busy[Inside.log_writes] >= 50
        assert busy[Inside.log_mbps] >= 50 * 100 / 1e6
        assert busy[Inside.logical_reads] >= 50
        assert 0 < busy[Inside.hit_ratio] <= 100
        assert busy[Inside.connections] >= 2
        quiet = database.read()
        assert quiet[Inside.commits] == 0


def test_reads_after_a_cold_start_are_physical(mariadb: MysqlTarget) -> None:
    ask(
        mariadb,
        "CREATE TABLE planted.wide (i INT PRIMARY KEY, s CHAR(200)) AS "
        "SELECT seq AS i, repeat('x', 200) AS s FROM planted.seq_1_to_20000",
    )
    with probe_of(mariadb, "database") as probe:
        database = Database(probe)
        database.read()
        assert Inside.commits in database.read()
        mariadb.cool()
        with pytest.raises(DynoError):
            database.read()
        # What a new server counts has no relation to what the old one did.
        assert Inside.commits not in database.read()
        ask(mariadb, "SELECT sum(length(s)) FROM planted.wide")
        cold = database.read()
        ask(mariadb, "SELECT sum(length(s)) FROM planted.wide")
        warm = database.read()
    pages = 20_000 * 200 / 16_384
    assert cold[Inside.physical_reads] > pages
    assert cold[Inside.read_mbps] > 4
    assert warm[Inside.physical_reads] < pages / 10
    assert warm[Inside.hit_ratio] > cold[Inside.hit_ratio]


def test_a_reset_is_no_rate(mariadb: MysqlTarget) -> None:
    with probe_of(mariadb, "database") as probe:
        database = Database(probe)
        database.read()
        assert Inside.commits in database.read()
        # A second must pass in the server, whose clock of resets has no parts of it.
        reset = "SHOW GLOBAL STATUS LIKE 'Uptime_since_flush_status'"
        wait_until(lambda: int(ask(mariadb, reset)[0][1]) >= 1, "a second")
        database.read()
        ask(mariadb, "FLUSH GLOBAL STATUS" if _flushes_global(mariadb) else "FLUSH STATUS")
        assert Inside.commits not in database.read()
        assert Inside.commits in database.read()


def _flushes_global(target: MysqlTarget) -> bool:
    with closing(target.connect()) as session:
        return session.version.number >= (11, 5)


def test_a_sort_that_spills_makes_files(mariadb: MysqlTarget) -> None:
    with probe_of(mariadb, "database") as probe, closing(mariadb.connect()) as user:
        database = Database(probe)
        database.read()
        user.execute("SET SESSION sort_buffer_size = 65536")
        user.execute("SELECT seq FROM planted.seq_1_to_200000 ORDER BY md5(seq) LIMIT 100000, 1")
        assert database.read()[Inside.temp_files] >= 1
        assert database.read()[Inside.temp_files] == 0


def test_a_hot_row_is_a_lock(mariadb: MysqlTarget) -> None:
    update = "UPDATE planted.hot SET v = v + 1 WHERE i = 1"
    with (
        probe_of(mariadb, "sessions") as probe,
        probe_of(mariadb, "database") as counters,
        closing(mariadb.connect()) as holder,
    ):
        database = Database(counters)
        database.read()
        holder.execute("BEGIN")
        holder.execute(update)
        once = threading.local()

        def wait(session: MysqlConnection) -> None:
            if not hasattr(once, "done"):
                once.done = True
                session.execute(update)

        with users(mariadb, 3, wait):
            try:
                wait_until(lambda: sessions(probe) == {"lock/row lock": 3}, "three that wait")
            finally:
                holder.execute("COMMIT")
        assert database.read()[Inside.lock_waits] == 3


def test_a_deadlock_is_counted(mariadb: MysqlTarget) -> None:
    change = "UPDATE planted.hot SET v = v + 1 WHERE i = {}"
    with (
        probe_of(mariadb, "database") as probe,
        closing(mariadb.connect()) as one,
        closing(mariadb.connect()) as two,
    ):
        database = Database(probe)
        database.read()
        for number, session in enumerate((one, two), 1):
            session.execute("BEGIN")
            session.execute(change.format(number))
        failed: list[str] = []

        def cross(session: MysqlConnection, row: int) -> None:
            try:
                session.execute(change.format(row))
            except DynoError as error:
                failed.append(str(error.kind))
                session.execute("ROLLBACK")

        threads = [threading.Thread(target=cross, args=work) for work in ((one, 2), (two, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == ["deadlock"]
        assert database.read()[Inside.deadlocks] == 1


def test_commits_that_are_synced_wait_for_the_log(mariadb: MysqlTarget) -> None:
    samples: dict[int, list[dict[str, float]]] = {1: [], 0: []}

    def insert(session: MysqlConnection) -> None:
        session.execute("INSERT INTO planted.log (v) VALUES (1)")

    def mean(durable: int, name: str) -> float:
        return sum(one.get(name, 0) for one in samples[durable]) / len(samples[durable])

    def enough(durable: int, probe: Any) -> bool:
        """As many for both; on a busy machine few commits are seen while they wait."""
        samples[durable].append(sessions(probe))
        if durable == 0:
            return len(samples[0]) == len(samples[1])
        return len(samples[1]) >= 20 and mean(1, "log/Commit") > 0

    for durable in samples:
        ask(mariadb, f"SET GLOBAL innodb_flush_log_at_trx_commit = {durable}")
        with probe_of(mariadb, "sessions") as probe, users(mariadb, 2, insert):
            wait_until(partial(enough, durable, probe), "readings of the sessions")
    ask(mariadb, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
    # Sessions that wait for a CPU count as running.
    assert mean(1, "log/Commit") > mean(1, "cpu/running") or others_work()
    assert mean(1, "log/Commit") > 3 * mean(0, "log/Commit")


def test_probes_do_not_cost_a_query_its_metrics(mariadb: MysqlTarget) -> None:
    meter_of = "SELECT sum(v) FROM planted.hot"
    with closing(mariadb.connect()) as session:
        meter = QueryMeter(mariadb, session)
        probes = mariadb.probes()
        busy = "SHOW GLOBAL STATUS LIKE 'Threads_running'"
        wait_until(lambda: session.execute(busy).rows[0][1] == "1", "other sessions to end")
        for probe in probes:
            probe.read(0)

        def measured() -> tuple[Any, Any]:
            meter.before()
            session.execute(meter_of)
            for probe in probes:
                for _ in range(3):
                    probe.read(0)
            found = meter.after()
            return found["bytes_read"], found["temp_bytes"]

        # The server may still end a statement that it has answered.
        wait_until(lambda: measured() == (0, 0), "a query alone", timeout=30)
        # New sessions of probes are known as well.
        for probe in probes:
            probe.close()
        for probe in probes:
            probe.read(0)
        wait_until(lambda: measured() == (0, 0), "a query alone", timeout=30)


def inspection(target: MysqlTarget) -> Inspection:
    with closing(target.inspector()) as inspector:
        inspector.begin()
        return inspector.end()


def at_url(target: MysqlTarget, user: str, out: Path) -> MysqlTarget:
    socket = quote(target.wire()["unix_socket"], safe="")
    url = targets.parse(f"mysql://{user}@localhost/?unix_socket={socket}")
    opened = targets.open_target(url, out, LIMITS)
    assert isinstance(opened, MysqlTarget)
    return opened


def test_what_is_off_is_said(mariadb: MysqlTarget, out: Path) -> None:
    found = inspection(mariadb)
    assert not found.statements
    assert not found.relations
    (note,) = found.notes
    assert "performance_schema is OFF" in note
    assert "Dyno's private server leaves it off" in note
    with at_url(mariadb, "root", out) as target:
        (note,) = inspection(target).notes
        assert "put performance_schema=ON into the server's configuration" in note
        assert "SET GLOBAL userstat = 1" in note


def test_user_statistics_count_rows_by_table(mariadb: MysqlTarget) -> None:
    ask(mariadb, "CREATE TABLE planted.ruled (i INT PRIMARY KEY, v INT, INDEX by_v (v))")
    ask(mariadb, "INSERT INTO planted.ruled SELECT seq, seq % 10 FROM planted.seq_1_to_1000")
    ask(mariadb, "SET GLOBAL userstat = 1")
    try:
        with closing(mariadb.inspector()) as inspector:
            inspector.begin()
            ask(mariadb, "SELECT max(i * 2) FROM planted.ruled USE INDEX ()")
            ask(mariadb, "SELECT count(*) FROM planted.ruled WHERE v = 3")
            ask(mariadb, "UPDATE planted.ruled SET v = 11 WHERE i <= 5")
            found = {one.relation: one for one in inspector.end().relations}
            table, index = found["planted.ruled"], found["planted.ruled.by_v"]
            assert (index.kind, index.of_table, index.logical_reads) == (
                "index",
                "planted.ruled",
                100,
            )
            assert table.kind == "table"
            assert table.logical_reads is not None
            assert 1000 <= table.logical_reads <= 1010
            assert table.writes == 5
            assert table.bytes is not None
            assert table.bytes > 16_000
            assert not inspector.end().relations
    finally:
        ask(mariadb, "SET GLOBAL userstat = 0")


def test_a_user_without_rights_is_told_the_grant(mariadb: MysqlTarget, out: Path) -> None:
    ask(mariadb, "CREATE USER clerk@localhost")
    try:
        with at_url(mariadb, "clerk", out) as target:
            wanted = "GRANT PROCESS ON *.* TO 'clerk'@'localhost'"
            assert any(wanted in note for note in inspection(target).notes)
            with probe_of(target, "database") as probe:
                database = Database(probe)
                database.read()
                assert Inside.logical_reads in database.read()
            with probe_of(target, "sessions") as probe:
                assert sessions(probe) == {"cpu/running": 0}
            ask(mariadb, wanted)
            assert not any("PROCESS" in note for note in inspection(target).notes)
    finally:
        ask(mariadb, "DROP USER clerk@localhost")


def test_the_clock_of_a_server_at_a_url(mariadb: MysqlTarget, out: Path) -> None:
    assert "clock" not in {probe.name for probe in mariadb.probes()}
    with at_url(mariadb, "root", out) as target, probe_of(target, "clock") as probe:
        ahead, bound = probe.read(SECOND_NS)
        assert {(one.source, one.subject, one.unit) for one in (ahead, bound)} == {
            ("clock", "mysql", "s")
        }
        assert (ahead.metric, bound.metric) == ("offset", "bound")
        # It is this machine's clock, which the server reads in microseconds.
        assert abs(ahead.value) <= bound.value + 2e-6
        assert not probe.read(30 * SECOND_NS)
        assert probe.read(31 * SECOND_NS)

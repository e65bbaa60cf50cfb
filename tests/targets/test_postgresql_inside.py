"""What PostgreSQL counts, against loads whose counts are known."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

from dyno.bundle.inside import SESSIONS, WAIT_CLASSES, Inside
from dyno.contracts.probe import Sample
from dyno.errors import DynoError
from dyno.targets import clockoffset
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import PROBES
from dyno.targets.postgresql.inside.database import Database
from dyno.targets.postgresql.inside.observer import prepare
from dyno.targets.postgresql.inside.sessions import Sessions
from dyno.targets.postgresql.inside.waits import metric, wait_class
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import wait_until
from tests.targets.conftest import ask

SECOND = 1_000_000_000
ROWS = 500


class Reader:
    """Readings of the counters that are one second apart by their times."""

    def __init__(self, session: PostgresConnection) -> None:
        self._session, self._database, self._now = session, Database(), 0
        prepare(session, 5)
        self.read()

    def read(self) -> dict[str, float]:
        self._now += SECOND
        found = self._database(self._session, self._now)
        assert {one.subject for one in found} == {"postgresql"}
        assert all(one.unit == Inside(one.metric).unit for one in found)
        return {one.metric: one.value for one in found}


@pytest.fixture
def session(postgres: PostgresTarget) -> Iterator[PostgresConnection]:
    ask(postgres, "DROP TABLE IF EXISTS seen")
    ask(postgres, "CREATE TABLE seen (a int, b text) WITH (autovacuum_enabled = off)")
    with closing(postgres.observer()) as opened:
        yield opened
    ask(postgres, "DROP TABLE seen")


def counted(target: PostgresTarget, counter: str, over: str = "pg_stat_database") -> int:
    return int(ask(target, f"SELECT sum({counter})::bigint FROM {over}")[0][0])


def test_commits_rows_and_log(postgres: PostgresTarget, session: PostgresConnection) -> None:
    # The server flushes by itself as well: the oracle starts before the reader, and ends after it.
    flushes = counted(postgres, "fsyncs", "pg_stat_io WHERE object = 'wal'")
    reader = Reader(session)
    commits = counted(postgres, "xact_commit")
    with closing(postgres.connect()) as writer:
        for number in range(ROWS):
            writer.execute(f"INSERT INTO seen VALUES ({number}, repeat('x', 1000))")
        writer.execute("DELETE FROM seen")
    wait_until(lambda: counted(postgres, "xact_commit") >= commits + ROWS, "the commits")
    found = reader.read()
    after = counted(postgres, "fsyncs", "pg_stat_io WHERE object = 'wal'")
    assert ROWS < found["commits"] < ROWS + 100
    assert found["rollbacks"] == 0
    assert ROWS <= found["log_flushes"] <= after - flushes
    assert found["log_writes"] >= ROWS
    assert 0 < found["log_flush"] < 1000
    assert 0 < found["log_write"] < 1000
    assert 0.5 < found["log_mbps"] < 50
    assert found["logical_reads"] > ROWS
    assert 0 < found["hit_ratio"] <= 100
    assert found["connections"] >= 1
    assert found["locks"] > 0
    # The dead rows are read every ten seconds.
    rows = [reader.read().get("dead_rows") for _ in range(10)]
    (dead,) = [value for value in rows if value is not None]
    assert dead >= ROWS


def test_a_reset_leaves_out_one_reading(
    postgres: PostgresTarget, session: PostgresConnection
) -> None:
    reader = Reader(session)
    ask(postgres, "SELECT pg_stat_reset_shared('wal')")
    assert set(reader.read()) == {"connections", "locks", "temp_used"}
    assert reader.read()["log_mbps"] >= 0


def plan(session: PostgresConnection, query: str) -> dict[str, Any]:
    found = session.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}").rows[0][0]
    return (found if isinstance(found, list) else json.loads(found))[0]["Plan"]


def test_a_sort_that_spills(postgres: PostgresTarget, session: PostgresConnection) -> None:
    reader = Reader(session)
    session.execute(
        "INSERT INTO seen SELECT i % 977, repeat('x', 200) FROM generate_series(1, 30000) i"
    )
    before = counted(postgres, "temp_files"), counted(postgres, "temp_bytes")
    with closing(postgres.connect()) as worker:
        worker.execute("SET work_mem = '1MB'; SET max_parallel_workers_per_gather = 0")
        top = plan(worker, "SELECT * FROM seen ORDER BY a, b")
    spilled = top["Sort Space Used"] * 1024
    assert spilled > 5_000_000
    wait_until(lambda: counted(postgres, "temp_files") > before[0], "the temporary file")
    found = reader.read()
    assert found["temp_files"] == counted(postgres, "temp_files") - before[0] == 1
    assert found["temp_file"] == pytest.approx(spilled, rel=0.01)
    assert found["temp_written"] * 1e6 == pytest.approx(spilled, rel=0.01)
    assert found["temp_used"] == 0


def test_temporary_files_in_use(postgres: PostgresTarget, session: PostgresConnection) -> None:
    """Those of a cursor that is open, and those that parallel workers share."""
    reader = Reader(session)
    session.execute("INSERT INTO seen SELECT i, repeat('x', 200) FROM generate_series(1, 60000) i")
    session.execute("ANALYZE seen")
    with closing(postgres.connect()) as worker:
        worker.execute("SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 0")
        worker.execute("BEGIN; DECLARE c CURSOR FOR SELECT * FROM seen ORDER BY b, a")
        worker.execute("FETCH 1 FROM c")
        assert reader.read()["temp_used"] > 10_000_000
        worker.execute("ROLLBACK")
    assert reader.read()["temp_used"] == 0
    with closing(postgres.connect()) as worker:
        worker.execute("SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 2")
        worker.execute("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0")
        worker.execute("SET min_parallel_table_scan_size = 0; SET enable_mergejoin = off")
        worker.execute("SET enable_nestloop = off")
        join = "SELECT count(pg_sleep(600)) FROM seen x JOIN seen y USING (b, a)"
        text = "\n".join(row[0] for row in worker.execute(f"EXPLAIN {join}").rows)
        assert "Parallel Hash Join" in text
        with running(worker, join):
            shared = "SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp') WHERE pg_ls_dir LIKE '%set'"
            asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            wait_until(lambda: ask(postgres, asleep)[0][0] > 0, "the first row of the join")
            assert ask(postgres, shared) == [(1,)]
            assert reader.read()["temp_used"] > 1_000_000


@contextmanager
def running(worker: PostgresConnection, statement: str) -> Iterator[None]:
    """A long statement that is cancelled at the end."""

    def work() -> None:
        with pytest.raises(DynoError):
            worker.execute(statement)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        worker.cancel()
        thread.join()


def observed(reader: Sessions, session: PostgresConnection, seconds: int) -> list[list[Sample]]:
    """The samples of so many seconds at ten readings each, as fast as they come."""
    found = (reader(session, 0) for _ in range(10 * seconds))
    return [samples for samples in found if samples]


def by_class(samples: list[Sample]) -> dict[str, float]:
    assert {(one.source, one.subject, one.unit) for one in samples} == {
        (SESSIONS, "postgresql", "count")
    }
    found = dict.fromkeys(WAIT_CLASSES, 0.0)
    for one in samples:
        name = one.metric.partition("/")[0]
        assert name in WAIT_CLASSES
        found[name] += one.value
    return {name: value for name, value in found.items() if value}


@contextmanager
def working(target: PostgresTarget, users: int, *statements: str) -> Iterator[None]:
    """So many sessions that run the statements over and over."""
    stop = threading.Event()
    with ExitStack() as stack:
        sessions = [stack.enter_context(closing(target.connect())) for _ in range(users)]

        def work(session: PostgresConnection) -> None:
            while not stop.is_set():
                for statement in statements:
                    session.execute(statement)

        threads = [threading.Thread(target=work, args=[one]) for one in sessions]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()


def test_an_idle_server_has_one_sample_a_second(session: PostgresConnection) -> None:
    prepare(session, 1)
    found = observed(Sessions(), session, 3)
    idle = [Sample(SESSIONS, "postgresql", "cpu/running", 0.0, "count")]
    # The first reading in a session is one of its own.
    assert found == [idle] * 3


def test_a_reading_that_comes_late_ends_the_second(session: PostgresConnection) -> None:
    prepare(session, 1)
    reader = Sessions()
    assert reader(session, 0)
    assert [bool(reader(session, SECOND * tenths // 10)) for tenths in (2, 6, 11, 12, 21, 22)] == [
        False, False, True, False, True, False,
    ]  # fmt: skip


def test_sessions_wait_for_a_hot_row(postgres: PostgresTarget, session: PostgresConnection) -> None:
    prepare(session, 1)
    ask(postgres, "INSERT INTO seen VALUES (1, '')")
    update = "UPDATE seen SET b = '' WHERE a = 1"
    with ExitStack() as stack:
        holder, *waiting = [stack.enter_context(closing(postgres.connect())) for _ in range(5)]
        holder.execute(f"BEGIN; {update}")
        threads = [threading.Thread(target=one.execute, args=[update]) for one in waiting]
        for thread in threads:
            thread.start()
        blocked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        wait_until(lambda: ask(postgres, blocked) == [(4,)], "the sessions that wait")
        first, *_, last = observed(Sessions(), session, 3)
        holder.execute("COMMIT")
        for thread in threads:
            thread.join()
    # The holder is idle in its transaction; it does nothing.
    assert by_class(first) == by_class(last) == pytest.approx({"lock": 4})
    assert {one.metric for one in last} <= {"lock/Lock:transactionid", "lock/Lock:tuple"}


def test_sessions_wait_for_the_log(postgres: PostgresTarget, session: PostgresConnection) -> None:
    prepare(session, 1)
    with working(postgres, 8, "INSERT INTO seen VALUES (1, '')"):
        first = counted(postgres, "fsyncs", "pg_stat_io WHERE object = 'wal'")
        seen: dict[str, float] = {}
        reader = Sessions()
        while counted(postgres, "fsyncs", "pg_stat_io WHERE object = 'wal'") < first + 300:
            for samples in observed(reader, session, 1):
                for name, value in by_class(samples).items():
                    seen[name] = seen.get(name, 0.0) + value
    assert max(seen, key=seen.__getitem__) == "log", seen


@pytest.mark.parametrize(
    ("statement", "expected"),
    # A series in FROM would be kept, and spill to temporary files.
    [
        ("SELECT pg_sleep(600)", "other"),
        ("SELECT count(n) FROM (SELECT generate_series(1, 1e10) AS n) AS series", "cpu"),
    ],
)
def test_sessions_that_wait_for_nothing_of_the_server(
    postgres: PostgresTarget, session: PostgresConnection, statement: str, expected: str
) -> None:
    prepare(session, 1)
    with closing(postgres.connect()) as worker, running(worker, statement):
        reader = Sessions()
        # Until the statement is planned, it uses the CPU.
        wait_until(
            lambda: [one for one in observed(reader, session, 1) if by_class(one) == {expected: 1}],
            f"the session in {expected}",
        )
        *_, last = observed(reader, session, 1)
        assert by_class(last) == {expected: 1}


def test_the_clock_of_the_server(session: PostgresConnection) -> None:
    prepare(session, 1)
    clock = PROBES[clockoffset.SOURCE].make()
    found = [clock(session, round(second * 1e9)) for second in range(31)]
    assert [bool(samples) for samples in found] == [True, *[False] * 29, True]
    for samples in filter(None, found):
        values = {one.metric: one.value for one in samples}
        # The same machine: the floating-point seconds of an epoch have steps of 0.24 µs.
        assert abs(values["offset"]) <= values["bound"] + 1e-6
        assert 0 < values["bound"] < 1


def test_every_event_of_the_server_has_a_class(postgres: PostgresTarget) -> None:
    """Those of I/O and of the log by what they wait for, however the version spells them."""
    events = ask(postgres, "SELECT type, name FROM pg_wait_events")
    assert len(events) > 100
    by_type: dict[str, set[str]] = {}
    for kind, name in events:
        assert wait_class(kind, name) in WAIT_CLASSES
        by_type.setdefault(kind, set()).add(wait_class(kind, name))
    assert by_type["LWLock"] == {"latch", "log", "data"}
    assert by_type["IO"] == {"data", "log", "temp", "other"}
    assert by_type["Lock"] == {"lock", "latch"}
    assert by_type["Client"] == {"client"}
    assert by_type["Activity"] == {"other"}


@pytest.mark.parametrize(
    ("kind", "event", "expected"),
    [
        (None, None, "cpu/running"),
        ("IO", "WALSync", "log/IO:WALSync"),
        ("IO", "WalSync", "log/IO:WalSync"),
        ("LWLock", "WALWrite", "log/LWLock:WALWrite"),
        ("IPC", "SyncRep", "log/IPC:SyncRep"),
        ("IO", "DataFileRead", "data/IO:DataFileRead"),
        ("IO", "AioIoCompletion", "data/IO:AioIoCompletion"),
        ("IPC", "BufferIO", "data/IPC:BufferIO"),
        ("IO", "BufFileWrite", "temp/IO:BufFileWrite"),
        ("Lock", "transactionid", "lock/Lock:transactionid"),
        ("Lock", "extend", "latch/Lock:extend"),
        ("LWLock", "BufferContent", "latch/LWLock:BufferContent"),
        ("BufferPin", "BufferPin", "latch/BufferPin:BufferPin"),
        ("IPC", "ExecuteGather", "latch/IPC:ExecuteGather"),
        ("Client", "ClientRead", "client/Client:ClientRead"),
        ("Timeout", "PgSleep", "other/Timeout:PgSleep"),
        ("Extension", "vendor", "other/Extension:vendor"),
        ("IO", "CopyFileRead", "other/IO:CopyFileRead"),
    ],
)
def test_the_class_of_an_event(kind: str | None, event: str | None, expected: str) -> None:
    assert metric(kind, event) == expected


def test_probes_leave_the_metrics_of_a_query_as_they_are(postgres: PostgresTarget) -> None:
    """Those that work meanwhile, and those that begin; another session takes the metrics away."""
    query = "SELECT count(*) FROM generate_series(1, 100000)"
    with ExitStack() as stack:
        worker, working = (
            stack.enter_context(closing(opened()))
            for opened in (postgres.connect, postgres.observer)
        )
        worker.execute("SET work_mem = '64kB'")
        meter = postgres.meter(worker)

        def measured(beside: PostgresConnection) -> int | None:
            worker.execute(query)
            beside.execute("SELECT 1")
            return meter.after().temp_bytes

        # Sessions of earlier tests may still end.
        wait_until(lambda: meter.before() or measured(working), "a reading")
        begins = stack.enter_context(closing(postgres.observer()))
        assert (measured(begins) or 0) > 100_000
        assert (measured(working) or 0) > 100_000
        other = stack.enter_context(closing(postgres.connect()))
        assert measured(other) is None


def test_probes_open_no_session_in_the_first_second(postgres: PostgresTarget) -> None:
    for probe in postgres.probes():
        with closing(probe):
            readings = round(1 / probe.period_s)
            found = [probe.read(number * SECOND) for number in range(readings)]
            assert [bool(samples) for samples in found] == [*[False] * (readings - 1), True]

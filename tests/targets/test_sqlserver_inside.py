"""What Dyno reads of a SQL Server's views, from rows composed after their documentation."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from dyno.bundle.inside import CLERKS, CLOCK, FILES, WAITS, Files, Inside
from dyno.contracts.probe import Sample, UnavailableError
from dyno.contracts.target import QueryResult
from dyno.errors import DynoError, TargetError
from dyno.targets.sessionprobe import Ask
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside import (
    clerks,
    files,
    performance,
    probes,
    server_time,
    sessions,
    status,
    views,
    waitstats,
)
from tests.conformance.test_probes import assert_sound
from tests.targets.sqlserver_recorded import (
    BABELFISH,
    Recorded,
    absent,
    denied,
    document,
    names,
    readings,
    rows,
)

SECOND = 1_000_000_000
SEEN = {views._RIGHTS: rows((1, 1, 1, "dyno"))}
STATUS = {
    performance.QUERY: readings("performance_counters"),
    files.QUERY: readings("virtual_file_stats"),
    status.COMMITS: readings("wait_stats"),
    status.TEMP: readings("tempdb_space"),
}


def read(ask: Ask[Session], session: Recorded, now_s: float) -> dict[tuple[str, str], Sample]:
    """The samples of a reading by subject and metric."""
    found = ask(session, round(now_s * SECOND))  # type: ignore[arg-type]
    return {(one.subject, one.metric): one for one in found}


def values(ask: Ask[Session], session: Recorded, now_s: float) -> dict[str, float]:
    return {metric: one.value for (_, metric), one in read(ask, session, now_s).items()}


@pytest.mark.parametrize("name", names())
def test_a_recorded_file_says_where_its_rows_come_from(name: str) -> None:
    found = document(name)
    assert "not taken from a server" in found["origin"]
    for reading in readings(name):
        assert {len(row) for row in reading.rows} == {len(found["columns"])}


def test_counters_of_a_period_become_neutral_metrics() -> None:
    ask, session = status.reader("sqlserver"), Recorded(STATUS)
    first = values(ask, session, 10)
    # Levels are known at once, rates are not.
    assert first[Inside.connections] == 12
    assert first[Inside.memory] == 4 << 30
    assert first[Inside.hit_ratio] == 98
    assert first[Inside.page_life] == 900
    assert first[Inside.temp_used] == 1280 * 8192
    assert Inside.logical_reads not in first
    second = values(ask, session, 12)
    assert second == {
        Inside.hit_ratio: 99,
        Inside.connections: 14,
        Inside.blocked: 2,
        Inside.memory_waits: 1,
        Inside.memory: 4 << 30,
        Inside.page_life: 880,
        Inside.logical_reads: 200_000,
        Inside.logical_mbps: pytest.approx(200_000 * 8192 / 1e6),
        Inside.physical_reads: 300,
        Inside.physical_writes: 250,
        Inside.checkpoint_writes: 120,  # 200 of checkpoints and 40 in the background
        Inside.log_mbps: 1.8,  # 4 MB, of which 0.4 MB are tempdb's
        Inside.log_flushes: 360,  # 800, of which 80 are tempdb's
        Inside.lock_waits: 4,
        Inside.deadlocks: 1,
        Inside.batches: 2000,
        Inside.commits: 600,  # 1400, of which 200 are tempdb's
        Inside.temp_files: 3,
        Inside.read_mbps: pytest.approx(3_276_800 / 2e6),
        Inside.written_mbps: pytest.approx(3_276_800 / 2e6),
        Inside.log_writes: 400,
        Inside.log_write: 0.5,
        Inside.log_wait: 2.0,  # 2000 ms of 800 waits, 400 ms without a CPU
        Inside.temp_written: pytest.approx((2_621_440 + 600_000) / 2e6),
        Inside.temp_used: 2560 * 8192,
    }
    # The third reading is after a restart that the session survived, such as a reset: no rates.
    third = values(ask, session, 14)
    assert third[Inside.connections] == 3
    assert Inside.logical_reads not in third
    assert Inside.log_writes not in third
    assert Inside.log_wait not in third


def test_a_new_session_begins_anew() -> None:
    ask = status.reader("sqlserver")
    values(ask, Recorded(STATUS), 10)
    again = values(ask, Recorded(STATUS), 12)
    assert Inside.logical_reads not in again


def test_a_named_instance_has_the_same_counters() -> None:
    def renamed(reading: QueryResult) -> list[tuple[object, ...]]:
        # Columns of fixed length are padded.
        return [
            (f"{row[0]}".replace("SQLServer:", "MSSQL$TWO:").ljust(128), *row[1:])
            for row in reading.rows
        ]

    plain = performance.counted(readings("performance_counters")[0].rows)
    assert performance.counted(renamed(readings("performance_counters")[0])) == plain


@pytest.mark.parametrize("why", [absent, denied])
def test_a_view_that_cannot_be_read_leaves_its_metrics_absent(why: object) -> None:
    assert callable(why)
    answers = {**STATUS, performance.QUERY: why(performance.VIEW)}
    ask, session = status.reader("sqlserver"), Recorded(answers)
    values(ask, session, 10)
    found = values(ask, session, 12)
    assert Inside.hit_ratio not in found
    assert found[Inside.log_writes] == 400
    assert session.asked.count(performance.QUERY) == 1  # asked once, not every second


@pytest.mark.parametrize(
    ("make", "view"),
    [
        (status.reader, performance.VIEW),
        (waitstats.reader, waitstats.VIEW),
        (files.reader, files.VIEW),
        (clerks.reader, clerks.VIEW),
    ],
)
def test_a_server_without_the_views_is_unavailable_with_the_reason(make: object, view: str) -> None:
    assert callable(make)
    ask: Ask[Session] = make("sqlserver")
    with pytest.raises(UnavailableError, match=view):
        read(ask, Recorded({}), 1)


def test_requests_without_their_view_are_unavailable() -> None:
    with pytest.raises(UnavailableError, match=sessions.VIEW):
        read(sessions.reader("sqlserver"), Recorded(SEEN), 1)


def test_a_lost_connection_is_no_missing_view() -> None:
    lost = DynoError("gone", kind="connection_lost")
    with pytest.raises(DynoError) as raised:
        read(waitstats.reader("sqlserver"), Recorded({waitstats.QUERY: lost}), 1)
    assert raised.value.kind == "connection_lost"


def test_files_have_rates_and_times_by_role_and_by_file() -> None:
    ask = files.reader("sqlserver")
    session = Recorded({files.QUERY: readings("virtual_file_stats")})
    assert read(ask, session, 10) == {}
    found = read(ask, session, 12)
    assert {one.source for one in found.values()} == {FILES}
    data = "sqlserver/data/dyno_tpcc/dyno_tpcc"
    assert found[data, Files.reads].value == 200
    assert found[data, Files.read].value == 1.5
    assert found[data, Files.write].value == 4
    assert found[data, Files.size].value == 1 << 30
    assert found["sqlserver/data", Files.read].value == 1.5  # master did nothing
    assert found["sqlserver/log", Files.write].value == 0.5
    assert found["sqlserver/temp", Files.writes].value == 25
    assert {subject for subject, _ in found if subject.count("/") == 3} == {
        data,
        "sqlserver/log/dyno_tpcc/dyno_tpcc_log",
        "sqlserver/temp/tempdb/tempdev",
        "sqlserver/temp/tempdb/templog",
    }
    assert not any("payroll" in subject for subject, _ in found)  # its type is not shown
    assert read(ask, session, 14) == {}  # all counters began anew


def test_a_file_that_begins_anew_does_not_hide_the_others() -> None:
    first, second, _ = readings("virtual_file_stats")
    before, after = files.counted(first.rows), files.counted(second.rows)
    whole = files.between(before, after)
    log = next(file for file in whole if file.name == "dyno_tpcc_log")
    restored = files.Snapshot({**after.requests, log: files.Requests()}, after.sizes)
    assert files.between(before, restored).keys() == whole.keys() - {log}


def test_waits_are_mean_threads_by_class_without_those_that_have_nothing_to_do() -> None:
    ask = waitstats.reader("sqlserver")
    session = Recorded({waitstats.QUERY: readings("wait_stats")})
    assert read(ask, session, 10) == {}
    found = read(ask, session, 12)
    assert {one.source for one in found.values()} == {WAITS}
    assert {metric: one.value for (_, metric), one in found.items()} == {
        "log/WRITELOG": 0.8,  # 2000 ms in 2 s, of which 400 were without a CPU
        "data/PAGEIOLATCH_SH": 0.5,
        "lock/LCK_M_X": 2,
        "client/ASYNC_NETWORK_IO": pytest.approx(0.1),
        "cpu/runnable": 0.4,
    }
    assert read(ask, session, 14) == {}  # cleared
    assert values(ask, session, 15) == {"cpu/runnable": 0}


def test_sessions_are_sampled_by_what_they_wait_for() -> None:
    answers = {
        **SEEN,
        sessions.QUERY: readings("requests"),
        sessions.TASKS.format(sessions="57, 58"): readings("waiting_tasks"),
    }
    ask, session = sessions.reader("sqlserver"), Recorded(answers)
    found: Sequence[Sample] = ()
    while not found:
        found = ask(session, 0)  # type: ignore[arg-type]
    by_wait = {one.metric: one.value for one in found}
    readings_of_one = session.asked.count(sessions.QUERY)
    assert readings_of_one > 1
    # The first reading has eleven active sessions, the others one that runs.
    assert by_wait["log/WRITELOG"] == pytest.approx(by_wait["lock/LCK_M_X"])
    assert by_wait["data/PAGEIOLATCH_SH"] == pytest.approx(2 * by_wait["log/WRITELOG"])
    assert by_wait["temp/PAGEIOLATCH_UP"] == pytest.approx(by_wait["log/WRITELOG"])
    assert by_wait["latch/PAGELATCH_EX"] == pytest.approx(by_wait["log/WRITELOG"])
    assert by_wait["other/RESOURCE_SEMAPHORE"] == pytest.approx(by_wait["log/WRITELOG"])
    assert by_wait["client/ASYNC_NETWORK_IO"] == pytest.approx(by_wait["log/WRITELOG"])
    assert by_wait["cpu/runnable"] == pytest.approx(by_wait["log/WRITELOG"])
    assert by_wait["cpu/running"] == pytest.approx(1 + by_wait["log/WRITELOG"])


def test_memory_is_by_consumer() -> None:
    ask = clerks.reader("sqlserver")
    found = read(ask, Recorded({clerks.QUERY: readings("memory_clerks")[0]}), 0)
    assert {one.source for one in found.values()} == {CLERKS}
    assert found["sqlserver", "MEMORYCLERK_SQLBUFFERPOOL"].value == 3_500_000 * 1024


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-26T18:00:00.1234567", 1_795_716_000.1234567),
        ("2026-11-26T18:00:00", 1_795_716_000.0),
        ("1970-01-01T00:00:01.5", 1.5),
    ],
)
def test_the_clock_of_the_server(text: str, seconds: float) -> None:
    class Clock:
        def execute(self, _: str) -> QueryResult:
            return rows([text])

    assert server_time(Clock()) == pytest.approx(seconds, abs=1e-6)  # type: ignore[arg-type]


def test_all_probes_have_sound_samples() -> None:
    answers = {
        **STATUS,
        **SEEN,
        waitstats.QUERY: readings("wait_stats")[:2],
        sessions.QUERY: readings("requests")[1],
        clerks.QUERY: readings("memory_clerks")[0],
    }
    for name, asked in probes("sqlserver").items():
        if name == CLOCK:
            continue
        ask, session = asked.make(), Recorded(answers)
        found: list[Sample] = []
        for at in range(1, 20):
            found += ask(session, at * SECOND)  # type: ignore[arg-type]
        assert {(one.source, one.subject.partition("/")[0]) for one in found} == {
            (name, "sqlserver")
        }
        assert_sound(found)


def test_all_statements_of_probes_say_that_they_are_dynos() -> None:
    assert len(probes("sqlserver")) == 6
    for session in (Recorded({}), Recorded({**SEEN, sessions.QUERY: readings("requests")})):
        for asked in probes("sqlserver").values():
            try:
                asked.make()(session, 1)  # type: ignore[arg-type]
            except (UnavailableError, DynoError):
                continue
        assert session.asked
        assert all(sql.startswith(views.OWN) for sql in session.asked)


@pytest.mark.parametrize(
    ("row", "lacking"),
    [
        ((1, 1, 1, "a"), []),
        ((0, 0, 1, "a"), ["GRANT VIEW SERVER STATE TO [a];"]),
        ((0, 1, 1, "a"), []),
        ((0, None, 0, "a]b"), [
            "GRANT VIEW SERVER STATE TO [a]]b];", "GRANT VIEW ANY DEFINITION TO [a]]b];",
        ]),
        ((1, None, 0, "a"), ["GRANT VIEW ANY DEFINITION TO [a];"]),
    ],
)  # fmt: skip
def test_missing_rights_come_with_their_grant(row: Sequence[object], lacking: list[str]) -> None:
    session = Recorded({views._RIGHTS: rows(row)})
    notes = views.rights(session)  # type: ignore[arg-type]
    assert len(notes) == len(lacking)
    assert all(grant in note for note, grant in zip(notes, lacking, strict=True))


def test_a_locked_view_is_noted_and_asked_again() -> None:
    """Other views that cannot be read are asked once."""
    locked = TargetError("Lock request time out period exceeded [error 1222].", kind="lock_timeout")
    session = Recorded({"a": [locked, rows((1,))], "b": [denied("b"), rows((1,))]})
    found = views.Views()
    asked = [found.rows(session, view, view) for view in "abab"]  # type: ignore[arg-type]
    assert asked == [None, None, [(1,)], None]
    assert set(found.missing) == {"b"}


def test_sessions_are_not_idle_because_they_are_not_seen() -> None:
    """Without the right the view has the own session only, and no error."""
    answers = {views._RIGHTS: rows((0, 0, 1, "a")), sessions.QUERY: rows()}
    with pytest.raises(UnavailableError, match="GRANT VIEW SERVER STATE"):
        read(sessions.reader("sqlserver"), Recorded(answers), 1)


def test_babelfish_has_no_rights_of_a_server() -> None:
    session = Recorded({}, BABELFISH)
    assert views.rights(session) == []  # type: ignore[arg-type]
    assert session.asked == []


def test_recorded_files_are_json_without_duplicates() -> None:
    assert json.dumps([document(name)["view"] for name in names()])
    assert len(names()) >= 15

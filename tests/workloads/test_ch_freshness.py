"""Which transactions a query sees: the formula, and the measurement on a real server."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.bundle.model import Clock
from dyno.contracts.freshness import Seen, freshness_ms, time_ns
from dyno.contracts.target import QueryResult
from dyno.errors import DatabaseError
from dyno.stages.drive.dss import freshness
from dyno.stages.drive.dss.freshness import Watch
from dyno.workloads.ch import WORKLOAD
from tests.workloads.conftest import Session

assert WORKLOAD.freshness is not None
STATEMENTS = WORKLOAD.freshness
# The first transactions began in 2026; the clock of the run says so too.
CLOCK = Clock(unix_ns=0, monotonic_ns=0)
START = dt.datetime(2026, 3, 1)

numbers = st.dictionaries(
    st.tuples(st.integers(1, 9), st.integers(1, 10)), st.integers(1, 10**6), max_size=20
)
times = st.datetimes(dt.datetime(1971, 1, 1), dt.datetime(2100, 1, 1))


@given(times)
def test_times_are_the_same_as_values_and_as_text(value: dt.datetime) -> None:
    found = time_ns(value)
    assert found % 1000 == 0
    assert time_ns(value.isoformat(sep=" ")) == time_ns(value.isoformat(sep=" ").encode()) == found
    assert dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(
        microseconds=found // 1000
    ) == value.replace(tzinfo=dt.UTC)


@given(numbers, numbers)
def test_what_is_missing_was_committed_and_is_the_next_one(
    seen: dict[tuple[int, int], int], committed: dict[tuple[int, int], int]
) -> None:
    missing = dict(Seen(seen, None).lacks(Seen(committed, None)))
    for key, number in committed.items():
        if key not in seen:
            assert missing[key] == number
        elif seen[key] < number:
            assert missing[key] == seen[key] + 1
        else:
            assert key not in missing
    assert set(missing) <= set(committed)


@given(st.integers(0, 10**18), st.lists(st.integers(0, 10**18)))
def test_freshness_is_the_age_of_the_oldest_missing_one(start: int, began: list[int]) -> None:
    found = freshness_ms(start, began)
    assert found == (max(0.0, (start - min(began)) / 1e6) if began else 0.0)
    assert freshness_ms(start, [*began, start]) == found


class Scripted:
    """A session that answers in turn."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def execute(self, sql: str) -> QueryResult:
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return QueryResult([], found)

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def orders(*newest: int) -> list[tuple[Any, ...]]:
    return [
        (1, district, number, START + dt.timedelta(seconds=number))
        for district, number in enumerate(newest, 1)
    ]


def watch(other: Any) -> Watch:
    return Watch(STATEMENTS, lambda neutral: neutral, lambda: other)


def test_without_transactions_nothing_is_measured() -> None:
    session = Scripted(orders(5, 5), orders(5, 5), orders(5, 5))
    found = watch(Scripted(orders(5, 5), orders(5, 5), orders(5, 5)))
    assert [found.before(session, CLOCK) for _ in range(3)] == [{}, {}, {}]


def test_a_session_that_sees_all_is_fresh_and_one_that_does_not_is_not() -> None:
    session = Scripted(orders(5, 5), orders(6, 5), orders(8, 6), orders(8, 6))
    began = [(START + dt.timedelta(seconds=7),)]
    other = Scripted(orders(5, 5), orders(6, 5), orders(8, 6), orders(8, 7), began)
    found = watch(other)
    assert found.before(session, CLOCK) == {}
    assert found.before(session, CLOCK)["freshness_ms"] == 0  # sees that orders come
    assert found.before(session, CLOCK)["freshness_ms"] == 0
    late = found.before(session, Clock(unix_ns=time_ns(START) + 60 * 10**9, monotonic_ns=0))
    assert late["freshness_ms"] is not None
    assert late["newest_age_ms"] is not None
    # The newest order that it sees is of second 8, the missing one of second 7.
    assert late["freshness_ms"] - late["newest_age_ms"] == pytest.approx(1000)


def test_a_session_that_is_stale_from_its_start_is_measured() -> None:
    began = [(START + dt.timedelta(seconds=6),)]
    session = Scripted(orders(5), orders(5), orders(5))
    found = watch(Scripted(orders(5), orders(6), began, orders(7), began))
    assert found.before(session, CLOCK) == {}
    minute = Clock(unix_ns=time_ns(START) + 60 * 10**9, monotonic_ns=0)
    for _ in range(2):
        # It sees order 5 of second 5, and misses order 6 of second 6.
        late = found.before(session, minute)
        assert late["newest_age_ms"] is not None
        assert late["freshness_ms"] is not None
        assert late["newest_age_ms"] - late["freshness_ms"] == pytest.approx(1000)


def test_the_query_starts_after_all_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [time_ns(START) + 10 * 10**9]

    class Slow(Scripted):
        def execute(self, sql: str) -> QueryResult:
            now[0] += 10**9
            return super().execute(sql)

    monkeypatch.setattr(freshness, "time", SimpleNamespace(monotonic_ns=lambda: now[0]))
    began = [(START + dt.timedelta(seconds=6),)]
    session = Slow(orders(5, 5), orders(5, 5))
    found = watch(Slow(orders(5, 5), orders(6, 6), began, began))
    assert found.before(session, CLOCK) == {}
    # Each statement takes a second: six in all, so the query starts in second 16.
    assert found.before(session, CLOCK) == {"freshness_ms": 10_000, "newest_age_ms": 11_000}


def test_a_statement_that_fails_leaves_no_value() -> None:
    session = Scripted(orders(5), orders(6), DatabaseError("gone"), orders(8))
    found = watch(Scripted(orders(5), orders(6), orders(7), orders(8)))
    assert found.before(session, CLOCK) == {}
    assert found.before(session, CLOCK)["freshness_ms"] == 0
    assert found.before(session, CLOCK) == {}
    assert found.before(session, CLOCK)["freshness_ms"] == 0


def test_an_old_snapshot_is_behind_what_others_committed(
    open_session: Callable[[str, str], Session],
) -> None:
    writer = open_session("postgresql", "ch_freshness")
    writer.execute(
        """
        CREATE TABLE district (d_w_id INT, d_id INT, d_next_o_id INT);
        CREATE TABLE orders (o_w_id INT, o_d_id INT, o_id INT, o_entry_d TIMESTAMP);
        INSERT INTO district VALUES (1, 1, 2);
        INSERT INTO orders VALUES (1, 1, 1, '2026-03-01 00:00:01');
        """
    )

    def order(number: int) -> None:
        writer.execute(
            f"BEGIN; UPDATE district SET d_next_o_id = {number + 1}; INSERT INTO orders "
            f"VALUES (1, 1, {number}, '2026-03-01 00:00:{number:02}'); COMMIT"
        )

    reader = open_session("postgresql", "ch_freshness_reader")
    reader.execute("SET search_path = ch_freshness")
    found = watch(writer)
    assert found.before(reader, CLOCK) == {}
    order(2)
    assert found.before(reader, CLOCK)["freshness_ms"] == 0
    order(3)
    assert found.before(reader, CLOCK)["freshness_ms"] == 0
    reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM district")
    order(4)
    order(5)
    behind = found.before(reader, Clock(unix_ns=time_ns(START) + 60 * 10**9, monotonic_ns=0))
    assert behind["freshness_ms"] is not None
    assert behind["newest_age_ms"] is not None
    # It still sees order 3, and the first one that it misses is 4.
    assert behind["newest_age_ms"] - behind["freshness_ms"] == pytest.approx(1000)
    reader.execute("COMMIT")
    assert found.before(reader, CLOCK)["freshness_ms"] == 0

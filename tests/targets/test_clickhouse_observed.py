"""What ClickHouse counts over time and by statement, beside running queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from dyno import targets
from dyno.bundle.inside import Inside
from dyno.contracts.target import Limits
from dyno.errors import DynoError
from dyno.targets.clickhouse.inside.statements import ClickhouseInspector
from dyno.targets.clickhouse.target import ClickhouseTarget
from tests.conftest import missing
from tests.process import wait_until

LIMITS = Limits(memory_bytes=256 << 20, threads=2)
SECOND_NS = 1_000_000_000
LOOKUP = "SELECT sum(i) FROM planted WHERE i < {}"
SPILL = (
    "SELECT count() FROM (SELECT sipHash64(number) AS h, any(toString(number)) "
    "FROM numbers(1000000) GROUP BY h) SETTINGS max_bytes_before_external_group_by = 10000000"
)


@pytest.fixture(scope="module")
def clickhouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickhouseTarget]:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    url = targets.parse("embedded:clickhouse")
    target = targets.open_target(url, tmp_path_factory.mktemp("inside"), LIMITS)
    assert isinstance(target, ClickhouseTarget)
    with target:
        with closing(target.connect()) as session:
            session.execute("CREATE TABLE planted (i UInt64) ENGINE = MergeTree ORDER BY i")
            session.execute("INSERT INTO planted SELECT number FROM numbers(1000000)")
        yield target


def test_reads_writes_and_spills_are_rates(clickhouse: ClickhouseTarget) -> None:
    (probe,) = clickhouse.probes()
    with closing(probe), closing(clickhouse.connect()) as user:

        def read(second: int) -> dict[str, float]:
            return {one.metric: one.value for one in probe.read(second * SECOND_NS)}

        assert read(1).keys() <= {Inside.memory}  # a rate needs two readings
        wait_until(lambda: read(1).get(Inside.memory, 0) > 1_000_000, "memory")
        user.execute("INSERT INTO planted SELECT rand64() FROM numbers(500000)")
        wrote = read(2)
        assert 3 < wrote[Inside.written_mbps] < 50
        assert wrote[Inside.temp_files] == 0
        user.execute("SELECT sum(sipHash64(i)) FROM planted")
        assert read(3)[Inside.read_mbps] > 3
        user.execute(SPILL)
        spilled = read(4)
        assert spilled[Inside.temp_files] >= 1
        assert spilled[Inside.temp_written] > 1
        assert spilled[Inside.temp_file] == pytest.approx(
            spilled[Inside.temp_written] * 1e6 / spilled[Inside.temp_files]
        )
        clickhouse.cool()
        with pytest.raises(DynoError):
            read(5)
        assert read(6).keys() <= {Inside.memory}


def test_statements_are_those_of_the_period(clickhouse: ClickhouseTarget) -> None:
    inspector = clickhouse.inspector()
    assert isinstance(inspector, ClickhouseInspector)
    with closing(inspector), closing(clickhouse.connect()) as user:
        user.execute(LOOKUP.format(9))  # before it
        inspector.begin()
        for number in range(6):
            user.execute(LOOKUP.format(number))
        for probe in clickhouse.probes():
            with closing(probe):
                probe.read(0)
        user.execute(SPILL)
        found = inspector.end()
        spill, lookup = found.statements  # most time first, nothing of Dyno's own
        assert (lookup.calls, lookup.rows, lookup.temp_bytes) == (6, 6, 0)
        assert "i < ?" in lookup.text
        assert "planted" in (lookup.plan or "")
        assert "Aggregating" in (spill.plan or "")
        assert lookup.min_ms is not None
        assert lookup.max_ms is not None
        assert lookup.min_ms <= lookup.total_ms / 6 <= lookup.max_ms
        assert spill.calls == 1
        assert spill.temp_bytes is not None
        assert spill.temp_bytes > 1_000_000
        assert not found.notes
        user.execute(LOOKUP.format(3))
        (again,) = inspector.end().statements
        assert (again.statement, again.calls) == (lookup.statement, 1)


def test_a_restart_leaves_what_came_after_it(clickhouse: ClickhouseTarget) -> None:
    with closing(clickhouse.inspector()) as inspector:
        inspector.begin()
        with closing(clickhouse.connect()) as user:
            user.execute(LOOKUP.format(1))
        clickhouse.cool()
        with closing(clickhouse.connect()) as user:
            for number in range(3):
                user.execute(LOOKUP.format(number))
            (lookup,) = inspector.end().statements
            assert lookup.calls == 3


def test_more_than_the_log_keeps_is_said(clickhouse: ClickhouseTarget) -> None:
    with closing(clickhouse.inspector()) as inspector, closing(clickhouse.connect()) as user:
        inspector.begin()
        for number in range(700):
            user.execute(LOOKUP.format(number))
        found = inspector.end()
        assert 0 < sum(one.calls for one in found.statements) < 700
        assert any("keeps only the last statements" in note for note in found.notes)


def test_a_probe_leaves_no_trace_in_the_log(clickhouse: ClickhouseTarget) -> None:
    (probe,) = clickhouse.probes()
    with closing(probe), closing(clickhouse.connect()) as user:
        probe.read(0)

        def logged() -> int:
            user.execute("SYSTEM FLUSH LOGS query_log")
            query = "SELECT count() FROM system.query_log WHERE query LIKE '%system.events%'"
            return user.execute(query).rows[0][0]

        before = logged()
        for _ in range(5):
            probe.read(0)
        # Only this test's own questions, which quote the name: begin and end of the last one.
        assert logged() - before == 2

"""Decision support with several users: streams, refresh functions and the three metrics.

The phase determines which rows belong to a test. A metric exists only if all of its inputs
succeeded.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from dyno.analyse import scores
from dyno.analyse.rows import rows
from dyno.bundle import metrics
from dyno.bundle.model import Estimate, Phase, those
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.reader import Bundle
from dyno.contracts import databases
from dyno.safety.plainjson import finite

REFRESH_STREAM = -1
_TABLE = "queries table"


@dataclass(frozen=True)
class _Test:
    """One test on one target: its phase and its rows.

    Attributes:
        database: One of several databases; None for all of them.
    """

    phase: Phase[DssDetail]
    rows: list[dict[str, Any]]
    database: int | None = None

    @property
    def scale(self) -> float | None:
        return self.phase.detail.scale

    @property
    def refresh(self) -> bool:
        """Whether the test includes the refresh functions."""
        return self.phase.detail.refresh is True

    @property
    def streams(self) -> int:
        """The expected number of query streams."""
        detail = self.phase.detail
        return (detail.streams if self.database is None else detail.streams_each) or 0

    @property
    def queries(self) -> int:
        """The expected number of queries of a stream."""
        return self.phase.detail.queries_each or scores.QUERIES

    @property
    def databases(self) -> list[_Test]:
        """The part of each database, if several ran the test at once."""
        count = self.phase.detail.databases or 1
        return [
            replace(self, database=number, rows=[r for r in self.rows if r["database"] == number])
            for number in range(1, 1 + min(count, databases.MOST))
            if count > 1
        ]

    def stream(self, stream: int) -> list[dict[str, Any]]:
        """The rows of a stream, in submission order."""
        return [row for row in self.rows if row["stream"] == stream]

    @property
    def whole(self) -> bool:
        """Whether it completed without failures."""
        return self.phase.status == "done" and bool(self.rows) and not failed(self.rows)


def streams(bundle: Bundle) -> list[Estimate]:
    """``dss.<target>.power``, ``.throughput``, ``.composite`` and metrics of each stream.

    Without the refresh functions, power and composite are absent, and the rate of the streams is
    ``.throughput_score``.
    """
    tests = _tests(bundle)
    start_ns = bundle.run.clock.unix_ns
    estimates: list[Estimate] = []
    for target in dict.fromkeys(target for target, _ in tests):
        power = tests.get((target, "power"))
        several = tests.get((target, "throughput"))
        found: list[Estimate] = []
        at = metrics.Queries(target)
        if power is not None:
            found += _refreshes(at, power)
            found += _power(at, power)
        if several is not None:
            found += _refreshes(at, several)
            found += _streams(at, several, start_ns)
            found += _throughput(at, several)
            for one in several.databases:
                found += _database(at.database(one.database or 1), one, start_ns)
        estimates += found + list(_composite(at, found))
    return estimates


def failed(found: Iterable[dict[str, Any]]) -> int:
    """Rows with a failed statement or without times."""
    return sum(
        row["error"] is not None
        or row["error_kind"] is not None
        or finite(row["seconds"]) is None
        or row["end_ns"] is None
        for row in found
    )


def _tests(bundle: Bundle) -> dict[tuple[str, str], _Test]:
    """The tests of a bundle by target and kind; the last one wins."""
    phases = those(bundle.run.phases, DssDetail)
    if not phases:
        return {}
    written = sorted(rows(bundle, "queries"), key=lambda row: row["t_ns"])
    tests: dict[tuple[str, str], _Test] = {}
    for phase in phases:
        kind = phase.detail.test
        if kind not in ("power", "throughput") or phase.target is None:
            continue
        end_ns = phase.end_ns
        own = [
            row
            for row in written
            if row["target"] == phase.target
            and phase.start_ns <= row["t_ns"]
            and (end_ns is None or row["t_ns"] <= end_ns)
        ]
        tests[phase.target, kind] = _Test(phase, own)
    return tests


def _refreshes(at: metrics.Queries, test: _Test) -> Iterable[Estimate]:
    source = f"{_TABLE}: the transaction, from begin to commit"
    for row in test.stream(REFRESH_STREAM):
        if not failed([row]):
            key = at.refresh(row["position"]).function(row["query"])
            yield key.estimate(row["seconds"], source)
    lost = failed(test.stream(REFRESH_STREAM))
    if test.refresh:
        part = "power" if test.phase.detail.test == "power" else "throughput"
        source = f"{_TABLE}, stream {REFRESH_STREAM}"
        yield at.refresh_failed(part).estimate(lost, source)


def _power(at: metrics.Queries, test: _Test) -> Iterable[Estimate]:
    queries, refreshes = test.stream(0), test.stream(REFRESH_STREAM)
    if not (test.whole and test.refresh and test.scale):
        return
    names = {row["query"] for row in queries}
    functions = sorted(row["query"] for row in refreshes)
    if len(queries) != scores.QUERIES or len(names) != len(queries):
        return
    if functions != ["rf1", "rf2"]:
        return
    starts = [row["t_ns"] / 1e9 for row in queries]
    origin = starts[0]
    intervals = scores.query_intervals(
        [start - origin for start in starts], queries[-1]["end_ns"] / 1e9 - origin
    )
    seconds = [row["seconds"] for row in refreshes]
    if min(*intervals, *seconds) <= 0:
        return
    yield at.power.estimate(
        scores.power(test.scale, intervals, seconds),
        "3600·SF / 24th root of the product of 22 query intervals and 2 refresh intervals, "
        "each query interval at least 1/1000 of the longest",
        unit=_unit(test.scale),
    )


def _streams(at: metrics.Queries, test: _Test, start_ns: int) -> Iterable[Estimate]:
    for stream in range(1, test.streams + 1):
        own = test.stream(stream)
        if not own:
            continue
        of, source = at.stream(stream), f"{_TABLE}, stream {stream}"
        ended = [row for row in own if not failed([row])]
        last = max(row["end_ns"] or row["t_ns"] for row in own)
        yield of.done.estimate(len(ended), source)
        yield of.failed.estimate(failed(own), source)
        yield of.start_s.estimate((own[0]["t_ns"] - start_ns) / 1e9, source)
        yield of.end_s.estimate((last - start_ns) / 1e9, source)
        yield of.total_s.estimate((last - own[0]["t_ns"]) / 1e9, source)
        if ended:
            yield of.slowest_s.estimate(max(row["seconds"] for row in ended), source)


def _throughput(at: metrics.Queries, test: _Test) -> Iterable[Estimate]:
    queries = [row for row in test.rows if row["stream"] > 0]
    yield at.throughput_failed.estimate(failed(queries), f"{_TABLE}, streams 1 to {test.streams}")
    seconds = _seconds(test)
    if seconds is None:
        return
    yield at.throughput_total_s.estimate(
        seconds, f"{_TABLE}: first submission to last completion of all streams"
    )
    yield at.throughput_mean_s.estimate(
        statistics.mean(finite(row["seconds"]) or 0.0 for row in queries),
        f"{_TABLE}: arithmetic mean of the seconds of all queries",
    )
    yield _rate(at, test, seconds)


def _database(at: metrics.QueriesDatabase, test: _Test, start_ns: int) -> Iterable[Estimate]:
    queries = [row for row in test.rows if row["stream"] > 0]
    if not queries:
        return
    source = f"{_TABLE}, database {test.database}"
    lost = failed(queries)
    first = min(row["t_ns"] for row in test.rows)
    last = max(row["end_ns"] or row["t_ns"] for row in test.rows)
    yield at.done.estimate(len(queries) - lost, source)
    yield at.failed.estimate(lost, source)
    yield at.start_s.estimate((first - start_ns) / 1e9, source)
    yield at.end_s.estimate((last - start_ns) / 1e9, source)
    seconds = _seconds(test)
    if seconds is not None:
        yield at.total_s.estimate(seconds, f"{source}: first submission to last completion")
        yield _rate(at, test, seconds)


def _seconds(test: _Test) -> float | None:
    """From the first submission to the last completion; None for an incomplete test."""
    queries = [row for row in test.rows if row["stream"] > 0]
    functions = 2 * test.streams if test.refresh else 0
    complete = (
        test.streams > 0
        and len(queries) == test.queries * test.streams
        and len(test.stream(REFRESH_STREAM)) == functions
    )
    if not (test.whole and complete and test.scale):
        return None
    first = min(row["t_ns"] for row in test.rows)
    seconds = (max(row["end_ns"] for row in test.rows) - first) / 1e9
    return seconds if seconds > 0 else None


def _rate(at: metrics.Queries | metrics.QueriesDatabase, test: _Test, seconds: float) -> Estimate:
    scale = test.scale or 0.0
    count = test.phase.detail.databases or 1
    several = test.database is None and count > 1
    where = f" of {count} databases, each at SF" if several else ""
    return (at.throughput if test.refresh else at.throughput_score).estimate(
        scores.throughput(scale, test.streams, seconds, test.queries),
        f"S·{test.queries}·3600·SF / seconds, S = {test.streams}{where}, "
        + ("with as many pairs of refresh functions" if test.refresh else "without refresh"),
        unit=_unit(scale),
    )


def _composite(at: metrics.Queries, found: Iterable[Estimate]) -> Iterable[Estimate]:
    values = metrics.Estimates(found)
    power, rate = values.estimate(at.power), values.estimate(at.throughput)
    if power is None or rate is None or power.unit != rate.unit:
        return
    yield at.composite.estimate(
        scores.composite(power.value, rate.value),
        "square root of the product of power and throughput",
        unit=power.unit,
    )


def _unit(scale: float) -> str:
    return f"queries/h at SF {scale:g}"

"""Decision support: seconds per query on each target, totals and target comparisons."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from dyno.analyse.rows import rows
from dyno.analyse.scores import geometric_mean, raised
from dyno.bundle import metrics
from dyno.bundle.model import Estimate, those
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.reader import Bundle
from dyno.safety.plainjson import finite


@dataclass
class _Power:
    """The power test (stream 0) on one target."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    failed: set[str] = field(default_factory=set[str])
    start_ns: int = 0
    end_ns: int = 0

    @property
    def whole(self) -> bool:
        """Whether all requested queries succeeded."""
        return bool(self.seconds) and not self.failed


def dss(bundle: Bundle) -> list[Estimate]:
    """``dss.<target>.<metric>``, ``dss.<target>.<query>.seconds`` and target comparisons.

    Targets are compared in run order: ``dss.<first>/<other>.<query>.ratio`` is the time on the
    first target divided by the time on the other.
    """
    tests = _power_tests(bundle)
    scales = _scales(bundle)
    estimates: list[Estimate] = []
    # Dropping caches between queries is not database time.
    apart = bundle.run.plan.get("cache") == "cold-each-query"
    for target, test in tests.items():
        estimates += _target(metrics.Queries(target), test, scales.get(target), apart=apart)
    if tests:
        first, *others = tests
        for other in others:
            estimates += _comparison(metrics.QueriesPair(first, other), tests[first], tests[other])
    return estimates


def _power_tests(bundle: Bundle) -> dict[str, _Power]:
    tests: dict[str, _Power] = {}
    repeats: dict[tuple[str, str], list[float]] = {}
    for row in sorted(rows(bundle, "queries"), key=lambda row: row["t_ns"]):
        if row["stream"] != 0:
            continue
        test = tests.setdefault(row["target"], _Power(start_ns=row["t_ns"]))
        if row["error"] is not None or row["error_kind"] is not None:
            test.failed.add(row["query"])
            continue
        seconds, end_ns = finite(row["seconds"]), row["end_ns"]
        if seconds is None or end_ns is None:
            continue
        test.end_ns = max(test.end_ns, end_ns)
        repeats.setdefault((row["target"], row["query"]), []).append(seconds)
    for (target, query), seconds in repeats.items():
        tests[target].seconds[query] = statistics.median(seconds)
    return tests


def _scales(bundle: Bundle) -> dict[str, float]:
    return {
        phase.target: scale
        for phase in those(bundle.run.phases, DssDetail)
        if phase.target is not None
        and phase.status == "done"
        and (scale := phase.detail.scale) is not None
    }


def _target(
    at: metrics.Queries, test: _Power, scale: float | None, *, apart: bool
) -> Iterable[Estimate]:
    table = "queries table, stream 0"
    for query, seconds in sorted(test.seconds.items()):
        yield at.query(query).seconds.estimate(seconds, f"{table}: submission to last row")
    yield at.queries_done.estimate(len(test.seconds), table)
    yield at.queries_failed.estimate(len(test.failed), table)
    # A total over some of the queries would look like a fast run.
    if not test.whole or scale is None:
        return
    yield at.power_total_s.estimate(
        sum(test.seconds.values()) if apart else (test.end_ns - test.start_ns) / 1e9,
        f"{table}: sum of the queries' seconds; caches emptied before each query"
        if apart
        else f"{table}: first submission to last completion",
    )
    geomean = geometric_mean(test.seconds.values())
    yield at.geomean_s.estimate(geomean, f"{table}: geometric mean of the queries' seconds")
    mean = statistics.mean(test.seconds.values())
    yield at.mean_s.estimate(mean, f"{table}: arithmetic mean of the queries' seconds")
    longest = max(test.seconds.values())
    if longest <= 0:
        return
    yield at.power_score.estimate(
        3600 * scale / geometric_mean(raised(list(test.seconds.values()))),
        "Dyno's own metric: 3600·SF / geometric mean of the queries' seconds, each at least "
        "1/1000 of the longest; without refresh functions, so not TPC-H power",
    )


def _comparison(at: metrics.QueriesPair, first: _Power, other: _Power) -> Iterable[Estimate]:
    common = sorted(query for query in first.seconds if other.seconds.get(query))
    if not common:
        return
    ratios = {query: first.seconds[query] / other.seconds[query] for query in common}
    for query, ratio in ratios.items():
        source = "seconds on the first / seconds on the other"
        yield at.query(query).ratio.estimate(ratio, source)
    if all(ratios.values()):
        yield at.geomean_ratio.estimate(
            geometric_mean(ratios.values()), f"geometric mean of {len(common)} ratios"
        )
    total = sum(other.seconds[query] for query in common)
    yield at.total_ratio.estimate(
        sum(first.seconds[query] for query in common) / total,
        f"sum over the {len(common)} queries that both ran",
    )
    slower = sum(ratio < 1 for ratio in ratios.values())
    yield at.slower_queries.estimate(slower, "queries that were slower on the other")

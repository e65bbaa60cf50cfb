"""Transactions: throughput, latency per operation, errors, steadiness and client cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from dyno import workloads
from dyno.analyse.checkpoints import checkpoints
from dyno.analyse.conduct import conduct
from dyno.analyse.during import courses
from dyno.analyse.level import Level, level
from dyno.analyse.rows import happened
from dyno.analyse.series import Throughput, sampled
from dyno.analyse.silence import silence
from dyno.bundle import metrics
from dyno.bundle.histograms import Latencies
from dyno.bundle.metrics.oltp import Time
from dyno.bundle.model import Estimate, Phase
from dyno.bundle.observed import Series
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.series import Key
from dyno.bundle.tables import counts
from dyno.contracts.transactions import Transactions
from dyno.statistics.steady import (
    BATCH,
    FEWEST_BATCHES,
    bias_percent,
    half_width,
    mser5,
    trend,
    variation_percent,
)

_QUANTILES: dict[Time, float] = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def oltp(bundle: Bundle) -> list[Estimate]:
    """``oltp.<level>.<metric>`` and ``oltp.<level>.<operation>.<metric>``."""
    levels = bundle.levels()
    series = sampled(bundle) if levels else {}
    return [one for level in levels for one in of_level(bundle, level, series)]


def of_level(bundle: Bundle, name: str, series: dict[Key, Series] | None = None) -> list[Estimate]:
    """Returns the estimates of one level, which may be the last one of a run in progress."""
    found = level(bundle, name)
    if found is None:
        return []
    at = metrics.Level(name)
    undisturbed = _undisturbed(bundle, name, found.rates)
    # Throughput that follows a changing rate does not settle by design.
    settles = not found.is_replay and (found.rate is None or not found.rate.changes)
    # The noise estimate assumes one true throughput; with maintenance there are several.
    half = half_width(found.rates.values) if settles and undisturbed is found.rates else None
    own = found.phase.detail.workload if found.phase else None
    main = workloads.driven([own] if own else bundle.run.workloads)
    estimates = [*_level(at, found, half, main), *silence(at, found)]
    if settles:
        estimates += _steadiness(at, undisturbed)
    if found.phase is not None:
        estimates += _pace(at, found.phase, found.rows, found.seconds, main)
        series = sampled(bundle) if series is None else series
        estimates += checkpoints(at, found, found.phase, series)
        estimates += conduct(at, found, found.phase)
    return estimates


def _undisturbed(bundle: Bundle, level: str, rates: Throughput) -> Throughput:
    """The throughput before maintenance starts; the change it causes is not unsteadiness."""
    starts = [
        course.start_ns
        for course in courses(bundle)
        if level in (course.level, *(part for part, _ in course.parts))
    ]
    if not starts:
        return rates
    count = int((min(starts) - rates.start_ns) / 1e9 / rates.interval_s)
    return replace(rates, values=rates.values[: max(0, count)])


def _level(
    at: metrics.Level, level: Level, half: float | None, main: Transactions
) -> Iterable[Estimate]:
    measured, seconds, table = level.rows, level.seconds, level.table
    done = sum(row["done"] for row in measured)
    rolled_back = sum(row["rolled_back"] for row in measured)
    errors = sum(sum(counts(row["errors"]).values()) for row in measured)
    retries = sum(sum(counts(row["retries"]).values()) for row in measured)
    attempted = done + rolled_back + errors
    yield at.seconds.estimate(seconds, table)
    rate = (done + rolled_back) / seconds
    yield at.tps.estimate(
        rate,
        f"{table}: commits and prescribed rollbacks / s"
        + ("" if half is None else "; 95 % interval by batch means"),
        low=None if half is None else max(0.0, rate - half),
        high=None if half is None else rate + half,
    )
    if main.mix:
        yield at.per_min(main.plural).estimate(
            _done(main, measured) * 60 / seconds,
            f"{table}: committed {main.title} transactions / min",
        )
    yield at.transactions.estimate(done + rolled_back, table)
    yield at.errors.estimate(errors, table)
    yield at.retries.estimate(retries, table)
    yield at.error_percent.estimate(
        100 * errors / attempted if attempted else 0.0,
        f"{table}: errors / (done + rolled back + errors)",
    )
    for operation in dict.fromkeys(row["op"] for row in measured if happened(row)):
        of_it = [row for row in measured if row["op"] == operation]
        yield from _operation(at.operation(operation), of_it, seconds, table)


def _pace(
    at: metrics.Level,
    phase: Phase[OltpDetail],
    measured: list[dict[str, Any]],
    seconds: float,
    main: Transactions,
) -> Iterable[Estimate]:
    """Main operations in % of the maximum with keying and think time."""
    scale = phase.detail.size
    if not scale or main.pace is None:
        return
    most = main.pace.per_min
    yield at.paced_percent.estimate(
        100 * _done(main, measured) * 60 / seconds / (most * scale),
        f"{main.plural_title.lower()}/min / ({most:g} × {main.unit}s), the maximum with "
        "keying and think time; above 100 % unpaced",
    )


def _done(main: Transactions, measured: list[dict[str, Any]]) -> int:
    """The number of committed main operations."""
    return sum(row["done"] for row in measured if row["op"] == main.main)


def _operation(
    at: metrics.Operation, of_it: list[dict[str, Any]], seconds: float, table: str
) -> Iterable[Estimate]:
    done = sum(row["done"] + row["rolled_back"] for row in of_it)
    for key, value in (
        (at.count, done),
        (at.rolled_back, sum(row["rolled_back"] for row in of_it)),
        (at.errors, sum(sum(counts(row["errors"]).values()) for row in of_it)),
        (at.retries, sum(sum(counts(row["retries"]).values()) for row in of_it)),
    ):
        yield key.estimate(value, table)
    yield at.per_s.estimate(done / seconds, table)
    for column, key_of, meaning in (
        ("response", at.response, "from the scheduled start to the end"),
        ("service", at.service, "from sending to the end"),
    ):
        merged = Latencies()
        for row in of_it:
            merged.add(row[column])
        if not merged.count:
            continue
        source = f"{table}, merged histograms; {meaning}"
        times = {label: merged.quantile_ms(quantile) for label, quantile in _QUANTILES.items()}
        times |= {"max": merged.max_ms, "mean": merged.mean_ms}
        for label, value in times.items():
            yield key_of(label).estimate(value, source)


def _steadiness(at: metrics.Level, rates: Throughput) -> Iterable[Estimate]:
    variation = variation_percent(rates.values)
    every = f"throughput by {rates.interval_s:g} s"
    if variation is not None:
        yield at.variation_percent.estimate(variation, f"standard deviation / mean of {every}")
    line = trend(rates.values)
    if line is not None:
        yield at.trend_percent.estimate(
            line.percent,
            f"least squares on {every}: change over the window / mean; 95 % interval",
            low=line.low,
            high=line.high,
        )
    yield at.judged_window_s.estimate(
        BATCH * FEWEST_BATCHES * rates.interval_s,
        f"{FEWEST_BATCHES} batches of {BATCH} of {every}: the minimum for MSER-5",
    )
    cut = mser5(rates.values)
    if cut is not None:
        yield at.mser_discard_percent.estimate(
            cut.discard_percent,
            f"MSER-5 on {every}: warm-up share; above 50 % not steady, if it changes the mean",
        )
        yield at.mser_bias_percent.estimate(
            bias_percent(rates.values, cut),
            f"MSER-5 on {every}: change of the mean by that warm-up, in % of the mean of the rest",
        )

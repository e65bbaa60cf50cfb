"""Several workloads or targets at once: each member, sums over targets, and the slowdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dyno import workloads
from dyno.analyse.level import Level, level
from dyno.analyse.passes import means, pass_of, weights
from dyno.analyse.rows import rows
from dyno.bundle import metrics, mixes
from dyno.bundle.histograms import Latencies
from dyno.bundle.model import Estimate, Phase, those
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.mix import Member, MixDetail
from dyno.bundle.reader import Bundle
from dyno.safety.plainjson import finite
from dyno.statistics.paired import FEWEST_PAIRS, shift

_Both = tuple[float | None, float | None]
"""A value by itself and among the others."""
_Asked = tuple[int, str]
"""A stream and a query. Each stream asks with its own parameters, always the same."""


@dataclass
class _Seen:
    """What was measured of a member in a window.

    Attributes:
        start_ns, end_ns: Its measured time, ns since the Unix epoch.
        level: Its level, if it has transactions.
        queries: Rows of its queries, else.
        rate: Its throughput in the common time: 1/s or 1/h.
        p95: 95th percentile of its response times: ms or s.
        usual: Mean seconds of each stream and query in the common time.
    """

    member: Member
    start_ns: int
    end_ns: int
    level: Level | None = None
    queries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    rate: float | None = None
    p95: float | None = None
    usual: dict[_Asked, float] = field(default_factory=dict["_Asked", float])


def mix(bundle: Bundle) -> list[Estimate]:
    """``mix.<window>.<member>.<metric>``, ``total.<window>.…`` and ``slowdown.<member>.…``."""
    estimates: list[Estimate] = []
    single: dict[tuple[str, int], _Seen] = {}
    shared: dict[tuple[str, int], _Seen] = {}
    for window in mixes.windows(bundle.run):
        found = [one for each in window.detail.members if (one := _seen(bundle, each)) is not None]
        if not found:
            continue
        estimates += _window(window, found)
        kept = single if window.detail.alone is not None else shared
        for one in found:
            if one.member.error is None and window.status == "done":
                kept[str(one.member.name), window.detail.round or 1] = one
    return [*estimates, *_slowdowns(single, shared)]


def _seen(bundle: Bundle, member: Member) -> _Seen | None:
    """The measured time of a member with its data; None if there is none."""
    if member.level is not None:
        found = level(bundle, member.level) if member.level in bundle.levels() else None
        return found and _Seen(member, found.rates.start_ns, found.rates.end_ns, found)
    phase = next(
        (one for one in those(bundle.run.phases, DssDetail) if one.name == member.phase), None
    )
    if phase is None:
        return None
    own = _queries(bundle, phase, member.workload)
    ends = [row["end_ns"] for row in own if row["end_ns"] is not None]
    if phase.detail.window is not None:
        start, end = phase.detail.window
        if phase.end_ns is None:  # killed; until its end, the window is the planned one
            end = min(end, max(ends, default=start))
        return _Seen(member, start, end, queries=own)
    starts = [row["t_ns"] for row in own]
    return _Seen(member, min(starts), max(ends), queries=own) if starts and ends else None


def _queries(bundle: Bundle, phase: Phase[DssDetail], workload: str | None) -> list[dict[str, Any]]:
    """The rows of the query streams of a phase. Bundles of earlier versions name no workload."""
    end_ns = phase.end_ns
    return [
        row
        for row in rows(bundle, "queries")
        if row["target"] == phase.target
        and row["workload"] in (None, workload)
        and row["stream"] is not None
        and row["stream"] > 0
        and row["t_ns"] is not None
        and phase.start_ns <= row["t_ns"]
        and (end_ns is None or row["t_ns"] <= end_ns)
    ]


def _window(window: Phase[MixDetail], found: Sequence[_Seen]) -> Iterable[Estimate]:
    """The members in the common time of a window, and the sums over targets.

    A member that failed takes no part in the common time: the others ran to the end.
    """
    at = metrics.MixWindow(window.detail.name)
    timed = window.detail.duration_s is not None
    whole = [one for one in found if one.member.error is None] or found
    start, end = max(one.start_ns for one in whole), min(one.end_ns for one in whole)
    if timed:
        levels = [one.start_ns for one in whole if one.level is not None]
        common = max(0.0, (end - start) / 1e9)
        yield at.common_s.estimate(common, "time in which all members were measured")
        apart = (max(levels) - min(levels)) / 1e9 if levels else 0.0
        yield at.apart_s.estimate(apart, "first to last start of the measured times")
    for one in found:
        common_to_it = timed and any(one is each for each in whole)
        own = (start, end) if common_to_it else (one.start_ns, one.end_ns)
        if own[1] > own[0]:
            yield from _member(at.member(one.member.name), one, *own)
    yield from _totals(window, found)


def _member(at: metrics.MixMember, one: _Seen, start: int, end: int) -> Iterable[Estimate]:
    seconds = (end - start) / 1e9
    if one.level is not None:
        main = workloads.driven([str(one.member.workload)])
        table = f"{one.level.table} in the common time"
        weighed = [(row, _overlap(row, start, end)) for row in one.level.rows]
        done = sum((row["done"] + row["rolled_back"]) * part for row, part in weighed)
        one.rate = done / seconds
        yield at.tps.estimate(one.rate, f"{table}: commits and prescribed rollbacks / s")
        mains = [(row, part) for row, part in weighed if row["op"] == main.main]
        if main.mix:
            value = sum(row["done"] * part for row, part in mains) * 60 / seconds
            source = f"{table}: committed {main.title} transactions / min"
            yield at.per_min(main.plural).estimate(value, source)
        merged = Latencies()
        for row, part in mains:
            if part >= 0.5:
                merged.add(row["response"])
        if merged.count:
            one.p95 = merged.quantile_ms(0.95)
            source = f"{table}: response times of {main.title}"
            yield at.p50_ms.estimate(merged.quantile_ms(0.5), source)
            yield at.p95_ms.estimate(one.p95, source)
        return
    ended = [row for row in one.queries if row["end_ns"] and start <= row["end_ns"] <= end]
    sound = [row for row in ended if not _failed(row)]
    taken = [
        ((int(row["stream"]), str(row["query"])), value)
        for row in sound
        if (value := finite(row["seconds"])) is not None
    ]
    one.usual = means(taken)
    times = sorted(value for _, value in taken)
    table = "queries table: queries that ended in the common time"
    yield at.queries.estimate(len(times), table)
    yield at.queries_failed.estimate(len(ended) - len(sound), table)
    one.rate = 3600 * len(times) / seconds
    yield at.queries_per_h.estimate(one.rate, f"{table} / h")
    if times:
        one.p95 = _quantile(times, 0.95)
        yield at.p50_s.estimate(_quantile(times, 0.5), f"{table}: submission to last row")
        yield at.p95_s.estimate(one.p95, f"{table}: submission to last row")


def _failed(row: dict[str, Any]) -> bool:
    return row["error"] is not None or row["error_kind"] is not None


def _overlap(row: dict[str, Any], start: int, end: int) -> float:
    """The share of an interval that lies in a time range."""
    begun, length = int(row["t_ns"]), float(row["seconds"]) * 1e9
    if length <= 0:
        return float(start <= begun <= end)
    return max(0.0, min(end, begun + length) - max(start, begun)) / length


def _quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the sorted values does not exceed."""
    return values[max(0, math.ceil(share * len(values)) - 1)]


def _totals(window: Phase[MixDetail], found: Sequence[_Seen]) -> Iterable[Estimate]:
    """Sums over targets; none if a member failed, because a part would look like a slow whole."""
    members = window.detail.members
    if any(member.error is not None for member in members) or len(found) < len(members):
        return
    for workload in dict.fromkeys(str(member.workload) for member in members):
        own = [one for one in found if one.member.workload == workload]
        if len(own) < 2:
            continue
        at = metrics.MixTotal(window.detail.name, workload)
        if window.detail.duration_s is None and own[0].level is None:
            yield at.targets.estimate(len(own), "members")
            yield from _completed(at, own)
            continue
        rates = [one.rate for one in own if one.rate is not None]
        if len(rates) < len(own):
            continue  # the windows do not overlap
        source = f"sum over {len(own)} targets, in the same time"
        yield at.targets.estimate(len(own), "members")
        key = at.queries_per_h if own[0].level is None else at.tps
        yield key.estimate(sum(rates), source)


def _completed(at: metrics.MixTotal, own: Sequence[_Seen]) -> Iterable[Estimate]:
    """The throughput tests of several targets as one."""
    count = sum(row["error"] is None for one in own for row in one.queries)
    start, end = min(one.start_ns for one in own), max(one.end_ns for one in own)
    yield at.queries.estimate(count, "queries table, streams of all targets")
    # A target whose queries failed ended early; by itself it has no rate either.
    if end > start and not any(_failed(row) for one in own for row in one.queries):
        yield at.queries_per_h.estimate(
            3600e9 * count / (end - start), "queries / h, from the first start to the last end"
        )


def _slowdowns(
    single: dict[tuple[str, int], _Seen], shared: dict[tuple[str, int], _Seen]
) -> Iterable[Estimate]:
    for name in dict.fromkeys(name for name, _ in single):
        rounds = sorted(number for one, number in single if one == name)
        pairs = [(single[name, at], shared[name, at]) for at in rounds if (name, at) in shared]
        at = metrics.Slowdown(name)
        if not pairs:
            continue
        yield at.pairs.estimate(len(pairs), "rounds with both windows")
        compared = [_compared(one, other) for one, other in pairs]
        for key, values in (
            (at.throughput_percent, [one for one, _ in compared]),
            (at.p95_percent, [one for _, one in compared]),
        ):
            known = [(one, other) for one, other in values if one and other]
            # Without rounds in which a member was starved, the others would flatter.
            if len(known) == len(values):
                found = shift([one for one, _ in known], [other for _, other in known])
                bounded = len(known) >= FEWEST_PAIRS and math.isfinite(found.high)
                yield key.estimate(
                    found.percent,
                    f"among the others / alone, {len(known)} pairs; "
                    + ("95 % interval" if bounded else f"an interval needs {FEWEST_PAIRS}"),
                    low=found.low if bounded else None,
                    high=found.high if bounded else None,
                )


def _compared(alone: _Seen, shared: _Seen) -> tuple[_Both, _Both]:
    """Speeds and 95th percentiles of a member by itself and among the others.

    Of queries, those count that the same stream ended in both windows, with their mean times.
    """
    if alone.level is not None:
        return (alone.rate, shared.rate), (alone.p95, shared.p95)
    both = [asked for asked in alone.usual if asked in shared.usual]
    if not both:
        return (None, None), (None, None)
    weight = weights(alone.member.workload)
    found = [means((query, one.usual[_, query]) for _, query in both) for one in (alone, shared)]
    speeds = [
        seconds and count / seconds for count, seconds in (pass_of(one, weight) for one in found)
    ]
    slow = [_quantile(sorted(one.values()), 0.95) for one in found]
    return (speeds[0], speeds[1]), (slow[0], slow[1])

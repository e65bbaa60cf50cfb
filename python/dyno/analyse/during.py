"""Maintenance during a run: throughput before, during and after, and the space used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dyno import workloads
from dyno.analyse.level import level
from dyno.analyse.passes import means, pass_of, weights
from dyno.analyse.resample import FEWEST_RUNS, change_percent, speed_percent
from dyno.analyse.rows import rows
from dyno.bundle import metrics
from dyno.bundle.histograms import Latencies
from dyno.bundle.metrics.during import PARTS, STEPS, Part
from dyno.bundle.model import Estimate, Phase, those
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.reader import Bundle
from dyno.contracts import databases
from dyno.contracts.transactions import Transactions
from dyno.safety.plainjson import finite


@dataclass(frozen=True)
class Course:
    """A maintenance operation on the run's clock (ns since the Unix epoch).

    Attributes:
        level: The load level that runs concurrently; None for queries.
        whole: Whether it succeeded. Only then is there an "after" part.
        parts: Level and number of each database, if the level sums up several.
    """

    phase: Phase[MaintenanceDetail]
    level: str | None
    start_ns: int
    end_ns: int
    whole: bool
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def metrics(self) -> metrics.Maintenance:
        """Its metrics."""
        return metrics.Maintenance(self.phase.name)

    def part(self, start_ns: int, end_ns: int) -> Part | None:
        """Returns the part that contains the time range completely."""
        if end_ns <= self.start_ns:
            return "before"
        if start_ns >= self.end_ns:
            return "after" if self.whole else None
        return "during" if self.start_ns <= start_ns and end_ns <= self.end_ns else None


def courses(bundle: Bundle) -> list[Course]:
    """The maintenance operations that have started."""
    found: list[Course] = []
    for phase in those(bundle.run.phases, MaintenanceDetail):
        start, end, level = phase.detail.start_ns, phase.detail.end_ns, phase.detail.level
        if start is not None and end is not None and start <= end:
            whole = phase.status == "done" and phase.detail.error is None
            found.append(Course(phase, level, start, end, whole, _parts(bundle, level)))
    return found


def _parts(bundle: Bundle, level: str | None) -> tuple[tuple[str, int], ...]:
    """Level and number of each database that a level sums up."""
    found: list[tuple[str, int]] = []
    for phase in bundle.parts(level):
        part, which = phase.detail.level, phase.detail.database
        if part is not None and which is not None:
            found.append((part, which))
    return tuple(sorted(found, key=lambda pair: pair[1]))


def during(bundle: Bundle) -> list[Estimate]:
    """``during.<phase>.<metric>``: throughput by part, change against before, and space.

    ``during.<phase>.db-<number>.<metric>`` covers one of several databases.
    """
    estimates: list[Estimate] = []
    for phase in those(bundle.run.phases, MaintenanceDetail):
        if phase.detail.estimate_only:
            estimates += _estimate(phase.detail, metrics.Maintenance(phase.name))
    for course in courses(bundle):
        estimates += _maintenance(course)
        if course.level is None:
            own = [r for r in rows(bundle, "during") if r["target"] == course.phase.target]
            detail, at = course.phase.detail, course.metrics
            failed = sum(row["error_kind"] is not None for row in own)
            source = "queries around the maintenance"
            estimates.append(at.queries_failed.estimate(failed, source))
            weight = weights(detail.workload)
            # A database counts all queries, also those that ran only in others.
            every = {row["query"] for row in own if row["error_kind"] is None}
            estimates += _queries(own, every, at, detail.streams or 1, weight)
            each = detail.streams_each
            for number in databases.numbers(detail.streams, each):
                of = [row for row in own if row["database"] == number]
                estimates += _queries(of, every, at.database(number), each or 1, weight)
        elif course.level in bundle.levels():
            estimates += _transactions(bundle, course, course.level, course.metrics)
            for part, which in course.parts:
                if part in bundle.levels():
                    own = course.metrics.database(which)
                    estimates += _transactions(bundle, course, part, own)
    return estimates


def _maintenance(course: Course) -> Iterable[Estimate]:
    detail, at = course.phase.detail, course.metrics
    took = (course.end_ns - course.start_ns) / 1e9
    yield at.seconds.estimate(took, "maintenance, all rounds")
    if course.whole and detail.rounds:
        yield at.round_s.estimate(took / detail.rounds, "maintenance, all rounds / rounds")
        if detail.log_bytes is not None:
            source = "log written from start to end by all sessions, with the load / rounds"
            yield at.log_bytes.estimate(detail.log_bytes / detail.rounds, source)
    for key, value, source in (
        (at.rounds, detail.rounds, "complete maintenance rounds"),
        (
            at.space_peak_bytes,
            detail.space_peak_bytes,
            "largest extra space in use",
        ),
    ):
        if value is not None:
            yield key.estimate(value, source)
    yield from _estimate(detail, at)
    for name, seconds in (detail.steps_s or {}).items():
        if name in STEPS:
            yield at.step(name).seconds.estimate(seconds, "median of this step, all rounds")
            size = (detail.steps_bytes or {}).get(name)
            if size and seconds > 0:
                yield at.step(name).mb_per_s.estimate(size / seconds / 1e6, "bytes / median time")
    size, taken = detail.written_bytes, detail.written_s
    if size:
        source = "bytes on storage of all completed backups"
        yield at.written_bytes.estimate(size, source)
    if size and taken:
        yield at.mb_per_s.estimate(
            size / taken / 1e6,
            "backup bytes on storage / seconds of writing and syncing, excluding verification",
        )


def _estimate(detail: MaintenanceDetail, at: metrics.Maintenance) -> Iterable[Estimate]:
    source = detail.space_estimate_source or ""
    if detail.space_estimate_bytes is not None:
        yield at.space_estimate_bytes.estimate(detail.space_estimate_bytes, source)
    if detail.estimate_s is not None:
        yield at.estimate_s.estimate(
            detail.estimate_s, "the server's estimate, or else preparing the task with it"
        )


def _transactions(
    bundle: Bundle, course: Course, name: str, at: metrics.Beside
) -> Iterable[Estimate]:
    beside = level(bundle, name)
    if beside is None:
        return
    rates, table = beside.rates, beside.table
    step = round(rates.interval_s * 1e9)
    values: dict[Part, list[float]] = {part: [] for part in PARTS}
    for place, value in enumerate(rates.values):
        start = rates.start_ns + place * step
        part = course.part(start, start + step)
        if part is not None:
            values[part].append(value)
    for part, series in values.items():
        own = at.part(part)
        source = f"{table}: whole intervals of {rates.interval_s:g} s {part} the maintenance"
        yield own.intervals.estimate(len(series), source)
        if series:
            yield own.tps.estimate(sum(series) / len(series), source)
    main = workloads.driven(bundle.run.workloads)
    yield from _latencies(course, beside.rows, step, at, main)
    for part in PARTS[1:]:
        found = change_percent(values["before"], values[part])
        if found is not None:
            source = f"mean throughput {part} / before"
            yield from _changed(at.part(part), found, source, "Fieller's method (AR(1))")


def _latencies(
    course: Course,
    measured: list[dict[str, Any]],
    step: int,
    at: metrics.Beside,
    main: Transactions,
) -> Iterable[Estimate]:
    merged: dict[Part, Latencies] = {part: Latencies() for part in PARTS}
    for row in measured:
        part = course.part(row["t_ns"], row["t_ns"] + step)
        if part is not None and row["op"] == main.main:
            merged[part].add(row["response"])
    for part, latencies in merged.items():
        if latencies.count:
            yield at.part(part).p95_ms.estimate(
                latencies.quantile_ms(0.95),
                f"{main.title}, response time {part} the maintenance, merged histograms",
            )


def _queries(
    rows: Iterable[dict[str, Any]],
    every: Iterable[str],
    at: metrics.Beside,
    users: int,
    weight: Mapping[str, int],
) -> Iterable[Estimate]:
    seconds: dict[Part, list[tuple[str, float]]] = {part: [] for part in PARTS}
    for row in rows:
        taken, part = finite(row["seconds"]), row["part"]
        if part in seconds and taken is not None and row["error_kind"] is None:
            seconds[part].append((row["query"], taken))
    runs = {part: _by_query(seconds[part]) for part in PARTS}
    if not every:
        return
    fewest: dict[Part, int] = {}
    for part in PARTS:
        own = at.part(part)
        yield own.queries.estimate(len(seconds[part]), f"queries {part} it")
        fewest[part] = min(len(runs[part].get(query, ())) for query in every)
        source = f"executions {part} it of the query with the fewest"
        yield own.fewest_runs.estimate(fewest[part], source)
    usual = means(seconds["before"])
    count, base = pass_of(usual, weight)
    if base <= 0:
        return
    per_h = users * 3600 * count / base
    yield at.part("before").qph.estimate(
        per_h, "users × queries of a pass / sum of their mean seconds before the maintenance"
    )
    for part in PARTS[1:]:
        found = speed_percent(runs["before"], runs[part])
        if found is None:
            continue
        if min(fewest["before"], fewest[part]) < FEWEST_RUNS:
            found = found[0], None, None  # the spread of the other queries is not that of all
        own = at.part(part)
        source = f"Σ mean seconds before / Σ seconds {part}, of the queries that ran {part}"
        yield own.qph.estimate(per_h * (1 + found[0] / 100), f"queries/h before × {source}")
        yield from _changed(own, found, source, "bootstrap within each query")


def _changed(
    at: metrics.Stretch, change: tuple[float, float | None, float | None], source: str, method: str
) -> Iterable[Estimate]:
    """A change in % with its interval, and the share of the throughput before that is left."""
    value, low, high = change
    by = f"95 % interval by {method}"
    yield at.change_percent.estimate(value, f"{source}, − 1; {by}", low=low, high=high)
    yield at.of_before_percent.estimate(
        100 + value,
        f"{source}; {by}",
        low=None if low is None else 100 + low,
        high=None if high is None else 100 + high,
    )


def _by_query(pairs: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for query, seconds in pairs:
        found.setdefault(query, []).append(seconds)
    return found

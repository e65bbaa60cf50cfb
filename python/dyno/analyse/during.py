"""Maintenance during a run: throughput before, during and after it, and the room that it took."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from dyno import workloads
from dyno.analyse.histograms import Latencies
from dyno.analyse.level import level
from dyno.analyse.resample import change_percent, ratio_percent
from dyno.analyse.rows import number, rows
from dyno.bundle.model import Estimate, Phase, those
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.reader import Bundle
from dyno.contracts.transactions import Transactions

Part = Literal["before", "during", "after"]
PARTS: tuple[Part, ...] = ("before", "during", "after")


@dataclass(frozen=True)
class Course:
    """A piece of maintenance on the run's clock (ns since the Unix epoch).

    Attributes:
        level: The level of load beside it; None if queries ran.
        whole: Whether it ended well: only then there is a stretch after it.
        parts: Of a level that is the sum of several databases, the level and number of each.
    """

    phase: Phase[MaintenanceDetail]
    level: str | None
    start_ns: int
    end_ns: int
    whole: bool
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        """How the names of its figures start."""
        return f"during.{self.phase.name}"

    def part(self, start_ns: int, end_ns: int) -> Part | None:
        """The part that a stretch of time lies in wholly."""
        if end_ns <= self.start_ns:
            return "before"
        if start_ns >= self.end_ns:
            return "after" if self.whole else None
        return "during" if self.start_ns <= start_ns and end_ns <= self.end_ns else None


def courses(bundle: Bundle) -> list[Course]:
    """The maintenance of a run that has begun."""
    found: list[Course] = []
    for phase in those(bundle.run.phases, MaintenanceDetail):
        start, end, level = phase.detail.start_ns, phase.detail.end_ns, phase.detail.level
        if start is not None and end is not None and start <= end:
            whole = phase.status == "done" and phase.detail.error is None
            found.append(Course(phase, level, start, end, whole, _parts(bundle, level)))
    return found


def _parts(bundle: Bundle, level: str | None) -> tuple[tuple[str, int], ...]:
    """Levels and numbers of the databases of which a level is the sum."""
    found: list[tuple[str, int]] = []
    for phase in bundle.parts(level):
        part, which = phase.detail.level, phase.detail.database
        if part is not None and which is not None:
            found.append((part, which))
    return tuple(sorted(found, key=lambda pair: pair[1]))


def during(bundle: Bundle) -> list[Estimate]:
    """``during.<phase>.<figure>``: throughput by part, its change against before, and room.

    ``during.<phase>.db-<number>.<figure>`` is that of one of several databases.
    """
    estimates: list[Estimate] = []
    for course in courses(bundle):
        estimates += _maintenance(course)
        if course.level is None:
            estimates += _queries(bundle, course)
        elif course.level in bundle.levels():
            estimates += _transactions(bundle, course, course.level, course.name)
            for part, which in course.parts:
                if part in bundle.levels():
                    own = f"{course.name}.db-{which}"
                    estimates += _transactions(bundle, course, part, own)
    return estimates


def _maintenance(course: Course) -> Iterable[Estimate]:
    detail = course.phase.detail
    yield Estimate(
        name=f"{course.name}.seconds",
        value=(course.end_ns - course.start_ns) / 1e9,
        unit="s",
        source="the maintenance, all rounds",
    )
    figures = {
        "rounds": (detail.rounds, "", "how often the maintenance was done in full"),
        "space_peak_bytes": (
            detail.space_peak_bytes,
            "B",
            "largest reading of the room taken beyond what was there",
        ),
        "space_estimate_bytes": (
            detail.space_estimate_bytes,
            "B",
            detail.space_estimate_source or "",
        ),
    }
    for figure, (value, unit, source) in figures.items():
        if value is not None:
            yield Estimate(name=f"{course.name}.{figure}", value=value, unit=unit, source=source)
    size, taken = detail.written_bytes, detail.written_s
    if size:
        source = "bytes on storage of all backups that were ended"
        yield Estimate(name=f"{course.name}.written_bytes", value=size, unit="B", source=source)
    if size and taken:
        yield Estimate(
            name=f"{course.name}.mb_per_s",
            value=size / taken / 1e6,
            unit="MB/s",
            source="bytes on storage of the backups / seconds of writing and syncing them, "
            "without proving them",
        )


def _transactions(bundle: Bundle, course: Course, name: str, prefix: str) -> Iterable[Estimate]:
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
        name = f"{prefix}.{part}"
        source = f"{table}: whole intervals of {rates.interval_s:g} s {part} the maintenance"
        yield Estimate(name=f"{name}_intervals", value=len(series), unit="", source=source)
        if series:
            mean = sum(series) / len(series)
            yield Estimate(name=f"{name}_tps", value=mean, unit="1/s", source=source)
    main = workloads.driven(bundle.run.workloads)
    yield from _latencies(course, beside.rows, step, prefix, main)
    for part in ("during", "after"):
        found = change_percent(values["before"], values[part])
        if found is not None:
            value, low, high = found
            yield Estimate(
                name=f"{prefix}.{part}_change_percent",
                value=value,
                low=low,
                high=high,
                unit="%",
                source=f"mean throughput {part} / before − 1; 95 % interval by block bootstrap",
            )


def _latencies(
    course: Course, measured: list[dict[str, Any]], step: int, prefix: str, main: Transactions
) -> Iterable[Estimate]:
    merged = {part: Latencies() for part in PARTS}
    for row in measured:
        part = course.part(row["t_ns"], row["t_ns"] + step)
        if part is not None and row["op"] == main.main:
            merged[part].add(row["response"])
    for part, latencies in merged.items():
        if latencies.count:
            yield Estimate(
                name=f"{prefix}.{part}_p95_ms",
                value=latencies.quantile_ms(0.95),
                unit="ms",
                source=f"{main.title}, response time {part} the maintenance, merged histograms",
            )


def _queries(bundle: Bundle, course: Course) -> Iterable[Estimate]:
    seconds: dict[Part, list[tuple[str, float]]] = {part: [] for part in PARTS}
    failed = 0
    for row in rows(bundle, "during"):
        taken, part = number(row["seconds"]), row["part"]
        if row["target"] != course.phase.target:
            continue
        failed += row["error_kind"] is not None
        if part in seconds and taken is not None and row["error_kind"] is None:
            seconds[part].append((row["query"], taken))
    yield Estimate(
        name=f"{course.name}.queries_failed",
        value=failed,
        unit="",
        source="queries round the maintenance",
    )
    by_query: dict[str, list[float]] = {}
    for query, taken in seconds["before"]:
        by_query.setdefault(query, []).append(taken)
    usual = {query: statistics.fmean(times) for query, times in by_query.items()}
    base = sum(usual.values())
    if base <= 0:
        return
    users = course.phase.detail.streams or 1
    per_h = users * 3600 * len(usual) / base
    yield Estimate(
        name=f"{course.name}.before_qph",
        value=per_h,
        unit="queries/h",
        source="users × queries / sum of each query's mean seconds before the maintenance",
    )
    for part in PARTS:
        pairs = [(usual[query], taken) for query, taken in seconds[part] if query in usual]
        name = f"{course.name}.{part}"
        yield Estimate(
            name=f"{name}_queries", value=len(pairs), unit="", source=f"queries {part} it"
        )
        expected, actual = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        found = ratio_percent(expected, actual)
        if part == "before" or found is None:
            continue
        value, low, high = found
        source = f"Σ mean seconds before / Σ seconds {part}, of the queries that ran {part}"
        yield Estimate(
            name=f"{name}_qph",
            value=per_h * (1 + value / 100),
            unit="queries/h",
            source=f"queries/h before × {source}",
        )
        yield Estimate(
            name=f"{name}_change_percent",
            value=value,
            low=low,
            high=high,
            unit="%",
            source=f"{source}, − 1; 95 % interval by bootstrap over the queries",
        )

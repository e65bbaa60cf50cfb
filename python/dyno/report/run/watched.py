"""A recording of a system that Dyno did not load, for the report, the summary and the document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dyno.bundle import metrics
from dyno.bundle.carriers import machine_of, of_target
from dyno.bundle.inside import SESSIONS, SOURCE, WAIT_CLASSES, Inside
from dyno.bundle.metrics.resource import DEVICE_METRICS
from dyno.bundle.metrics.watch import BUSIEST, LOADS, Load
from dyno.bundle.model import Phase
from dyno.bundle.phases.watch import WatchDetail
from dyno.report.kit.formats import clock, rounded
from dyno.report.run.page import Page
from dyno.report.run.uses import Row, summed, total

TITLES: dict[Load, str] = {
    "iops": "IOPS",
    "cpu": "CPU with steal, %",
    "sessions": "Active sessions",
}


@dataclass(frozen=True)
class Hour:
    """The busiest hour by a kind of load; a shorter recording is one hour."""

    load: Load
    start_ns: int
    seconds: float
    mean: float
    whole_mean: float

    @property
    def words(self) -> str:
        """``14:00:00 to 15:00:00 UTC``, or ``all``."""
        end_ns = self.start_ns + round(self.seconds * 1e9)
        return f"{clock(self.start_ns).rpartition(chr(0x202F))[0]} to {clock(end_ns)}"


@dataclass(frozen=True)
class Use:
    """A statement or a table: its part of the sum of all.

    Attributes:
        percent: Of all statements' time, or of all tables' logical reads.
    """

    name: str
    percent: float
    row: Row


def recordings(page: Page) -> list[Phase[WatchDetail]]:
    """The recordings of a run."""
    return page.phases_of(WatchDetail)


def hours(page: Page, phase: Phase[WatchDetail]) -> list[Hour]:
    """The busiest hours, by requests first."""
    found: list[Hour] = []
    for load in LOADS:
        of = metrics.Watch(phase.name).busiest(load)
        start, length = page.value(of.start_s), page.value(of.seconds)
        mean, whole = page.value(of.mean), page.value(of.whole_mean)
        if start is not None and length is not None and mean is not None and whole is not None:
            found.append(Hour(load, phase.start_ns + round(start * 1e9), length, mean, whole))
    return found


def busiest(phase: Phase[WatchDetail]) -> metrics.Resources:
    """What the database reported of the busiest hour."""
    return metrics.Resources(phase.name, BUSIEST)


def there(page: Page, phase: Phase[WatchDetail]) -> metrics.Resources:
    """The sampled metrics of the busiest hour, on the machine of the database."""
    return metrics.Resources(phase.name, BUSIEST, machine_of(page.run, phase.target))


def devices(page: Page, phase: Phase[WatchDetail]) -> dict[str, list[str]]:
    """The devices of the database with their roles; without a database all, without roles."""
    found: dict[str, list[str]] = {}
    for role, names in of_target(page.run, phase.target).items():
        for name in names:
            found.setdefault(name, []).append(role)
    return found or {name: [] for name in there(page, phase).devices(page.known)}


def waits(page: Page, phase: Phase[WatchDetail]) -> dict[str, float]:
    """Average active sessions of the busiest hour by wait class, the largest first."""
    start = f"{busiest(phase)}.{SESSIONS}.{phase.target}."
    found: dict[str, float] = {}
    for metric in page.known.between(start, metrics.Sampled.mean):
        wait = metric.partition("/")[0]
        key = busiest(phase).sampled(SESSIONS, str(phase.target), metric).mean
        if wait in WAIT_CLASSES:
            found[wait] = found.get(wait, 0.0) + (page.value(key) or 0.0)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def inside(page: Page, phase: Phase[WatchDetail], metric: Inside) -> float | None:
    """The mean of a metric of the database in the busiest hour."""
    return page.value(busiest(phase).sampled(SOURCE, str(phase.target), metric).mean)


def top_statements(page: Page, phase: Phase[WatchDetail]) -> list[Use]:
    """Statements by their share of the time of all."""
    rows = summed(page, "statements", "statement").get(str(phase.target), [])
    return _top(rows, "total_ms", "text")


def top_tables(page: Page, phase: Phase[WatchDetail]) -> list[Use]:
    """Tables with their indexes, by their share of the logical reads of all."""
    rows = summed(page, "relations", "relation").get(str(phase.target), [])
    tables: dict[str, Row] = {}
    for row in rows:
        name = str(row["of_table"] or row["relation"])
        before = tables.get(name, {"of_table": name, "logical_reads": 0, "physical_reads": 0})
        sums = {one: before[one] + (row[one] or 0) for one in ("logical_reads", "physical_reads")}
        tables[name] = {**before, **sums}
    return _top(list(tables.values()), "logical_reads", "of_table")


def _top(rows: list[Row], by: str, name: str) -> list[Use]:
    whole = total(rows, by)
    found = [Use(str(row[name] or ""), 100 * (row[by] or 0) / whole, row) for row in rows if whole]
    return sorted(found, key=lambda use: -use.percent)


def lines(page: Page) -> list[tuple[str, str]]:
    """Labels and texts for the summary on a terminal."""
    return [line for phase in recordings(page) for line in _lines(page, phase) if line[1]]


def _lines(page: Page, phase: Phase[WatchDetail]) -> Iterable[tuple[str, str]]:
    found = hours(page, phase)
    if found:
        first = found[0]
        loads = ", ".join(f"{rounded(one.mean)} {TITLES[one.load]}" for one in found[:1])
        yield "Busiest hour", f"{first.words}: {loads}"
    at = there(page, phase)
    names = devices(page, phase)
    busy = sorted(names, key=lambda name: -(_mean(page, at, name, "utilisation") or 0.0))
    for place, name in enumerate(busy[:2]):
        reads, writes = (_mean(page, at, name, one) for one in ("read_iops", "write_iops"))
        took = (rounded(_mean(page, at, name, one)) for one in ("read_await", "write_await"))
        roles = f" ({', '.join(names[name])})" if names[name] else ""
        share = read_percent(reads, writes)
        shown = "–" if share is None else f"{share:.0f} % reads"
        text = f"{name}{roles} {rounded((reads or 0) + (writes or 0))} IOPS, {shown}, r/w "
        yield "" if place else "Volumes", text + "/".join(took) + " ms"
    whole = waits(page, phase)
    if whole:
        parts = ", ".join(f"{name} {rounded(value)}" for name, value in list(whole.items())[:4])
        yield "Sessions", f"{rounded(sum(whole.values()))} active on average: {parts}"
    hits = inside(page, phase, Inside.hit_ratio)
    if hits is not None:
        yield "Hit ratio", f"{hits:.1f} %"
    for place, use in enumerate(top_statements(page, phase)[:3]):
        yield "" if place else "Statements", f"{use.percent:.0f} % of the time: {use.name[:200]}"
    tables = (f"{use.percent:.0f} % {use.name[:40]}" for use in top_tables(page, phase)[:3])
    yield "Page reads", ", ".join(tables)


def _mean(page: Page, at: metrics.Resources, name: str, metric: Any) -> float | None:
    return page.value(at.device(name, metric).mean)


def read_percent(reads: float | None, writes: float | None) -> float | None:
    """The share of reads in the requests, in %; None without requests."""
    whole = (reads or 0.0) + (writes or 0.0)
    return 100 * (reads or 0.0) / whole if whole > 0 else None


def entry(page: Page) -> dict[str, Any] | None:
    """The part ``watch`` of the JSON document; null if nothing was recorded."""
    found = recordings(page)
    if not found:
        return None
    phase = found[0]
    at, gaps = there(page, phase), metrics.Watch(phase.name)
    return {
        "target": phase.target,
        "seconds": phase.seconds,
        "stopped": phase.detail.stopped,
        "busiest_hours": {
            one.load: {
                "start_s": (one.start_ns - phase.start_ns) / 1e9,
                "seconds": one.seconds,
                "mean": one.mean,
                "whole_mean": one.whole_mean,
            }
            for one in hours(page, phase)
        },
        "volumes": {
            name: {
                "roles": roles,
                **{metric: _mean(page, at, name, metric) for metric in DEVICE_METRICS},
            }
            for name, roles in devices(page, phase).items()
        },
        "active_sessions": waits(page, phase) or None,
        "hit_ratio": inside(page, phase, Inside.hit_ratio),
        "statements": [_use(use, "text") for use in top_statements(page, phase)[:20]],
        "tables": [_use(use, "of_table") for use in top_tables(page, phase)[:20]],
        "gaps": page.value(gaps.gaps),
        "gap_s": page.value(gaps.gap_s),
        "longest_gap_s": page.value(gaps.longest_gap_s),
    }


def _use(use: Use, name: str) -> dict[str, Any]:
    left_out = {name, "t_ns", "end_ns", "target", "plan"}
    rest = {column: value for column, value in use.row.items() if column not in left_out}
    return {"name": use.name, "percent": use.percent, **rest}

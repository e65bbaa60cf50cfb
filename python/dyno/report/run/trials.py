"""The decision-support tests of a bundle: rows, metrics, and why a metric is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dyno.bundle import metrics
from dyno.bundle.metrics.dss import TESTS
from dyno.bundle.model import Phase
from dyno.bundle.phases.dss import DssDetail
from dyno.contracts.databases import MOST
from dyno.report.kit.formats import seconds
from dyno.report.run.page import Page

REFRESH_STREAM = -1
SCORES = (metrics.Queries.power, metrics.Queries.throughput, metrics.Queries.composite)


@dataclass(frozen=True)
class Trial:
    """A power or throughput test."""

    target: str
    phase: Phase[DssDetail]
    rows: list[dict[str, Any]]

    @property
    def several(self) -> bool:
        """Whether it is a throughput test."""
        return self.phase.detail.test == "throughput"

    @property
    def refresh(self) -> bool:
        """Whether it includes the refresh functions."""
        return self.phase.detail.refresh is True

    @property
    def streams(self) -> int:
        """Number of query streams, capped: bundles are untrusted input."""
        return min(self.phase.detail.streams or 0, 1000)

    @property
    def databases(self) -> int:
        """Number of databases under load at once, capped: bundles are untrusted input."""
        return min(max(1, self.phase.detail.databases or 1), MOST)

    def database(self, stream: int) -> int | None:
        """The database of a stream, if there are several; streams are numbered through."""
        each = self.phase.detail.streams_each
        return None if self.databases == 1 or not each else (stream - 1) // each + 1

    def slowest(self, stream: int) -> dict[str, Any] | None:
        """The row of a stream's longest successful query."""
        own = [
            row
            for row in self.rows
            if row["stream"] == stream and not row["error"] and row["seconds"] is not None
        ]
        return max(own, key=lambda row: row["seconds"], default=None)


def trials(page: Page) -> list[Trial]:
    """The tests in order; older bundles do not record it."""
    phases = [
        phase
        for phase in page.phases_of(DssDetail)
        if phase.target is not None and phase.detail.test in ("power", "throughput")
    ]
    if not phases:
        return []
    # Tests on several targets at once end in any order.
    place = {target: number for number, target in enumerate(page.run.targets)}
    phases.sort(key=lambda phase: place.get(str(phase.target), len(place)))
    columns = ["t_ns", "end_ns", "stream", "position", "query", "target", "rows", "seconds"]
    columns.append("database")
    written = page.bundle.table("queries").select([*columns, "error"]).to_pylist()
    return [
        Trial(
            phase.target or "",
            phase,
            [
                row
                for row in written
                if row["target"] == phase.target
                and row["t_ns"] is not None
                and phase.start_ns <= row["t_ns"]
                and (phase.end_ns is None or row["t_ns"] <= phase.end_ns)
            ],
        )
        for phase in phases
    ]


def unit(page: Page, target: str) -> str | None:
    """The unit of a target's power and throughput; None if it has neither."""
    at = metrics.Queries(target)
    listed = (at.power, at.throughput, at.composite, at.throughput_score)
    found = (page.estimate(key) for key in listed)
    return next((one.unit for one in found if one is not None), None)


def scores(page: Page, target: str) -> dict[str, float]:
    """The available metrics of power, throughput and composite."""
    at = metrics.Queries(target)
    found = {metric.name: page.value(metric.of(at)) for metric in SCORES}
    return {name: value for name, value in found.items() if value is not None}


def missing(page: Page) -> dict[str, str]:
    """Why a metric is missing, by target."""
    aimed: dict[str, list[Trial]] = {}
    for test in trials(page):
        if test.several or test.refresh:
            aimed.setdefault(test.target, []).append(test)
    reasons: dict[str, str] = {}
    for target, found in aimed.items():
        kinds = {"throughput" if test.several else "power" for test in found}
        wanted = {*kinds, "composite"} if len(kinds) == 2 else kinds
        if not page.refreshes:
            rated = page.value(metrics.Queries(target).throughput_score) is not None
            wanted = {"throughput"} if "throughput" in kinds and not rated else set()
        missing = wanted - scores(page, target).keys()
        lacking = [metric.name for metric in SCORES if metric.name in missing]
        if lacking:
            words = " and ".join(lacking)
            reasons[target] = f"no {words} score: {_why(page, target, found)}"
    return reasons


def _why(page: Page, target: str, found: list[Trial]) -> str:
    at = metrics.Queries(target)
    queries = (page.value(at.queries_failed) or 0) + (page.value(at.throughput_failed) or 0)
    functions = sum(page.value(at.refresh_failed(test)) or 0 for test in TESTS)
    parts: list[str] = []
    if queries:
        parts.append(f"{queries:.0f} {'query' if queries == 1 else 'queries'} failed")
    if functions:
        word = "function" if functions == 1 else "functions"
        parts.append(f"{functions:.0f} refresh {word} failed")
    if parts:
        return " and ".join(parts)
    if any(test.phase.status != "done" for test in found):
        return "a test did not complete"
    if page.refreshes and not all(test.refresh for test in found):
        return "the refresh functions did not run"
    return "queries are missing"


def by_database(page: Page, target: str) -> str:
    """The shortest and the longest time of several databases at once; empty for a single one."""
    tests = [one for one in trials(page) if one.target == target and one.several]
    counts = [number for test in tests if test.databases > 1 for number in range(test.databases)]
    known = [page.value(metrics.Queries(target).database(number + 1).total_s) for number in counts]
    times = sorted(value for value in known if value is not None)
    if not known:
        return ""
    ended = f"{seconds(times[0])} to {seconds(times[-1])}" if times else "none complete"
    return f"{len(known)} databases, {ended}"

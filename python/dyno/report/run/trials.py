"""The decision-support tests of a bundle: rows, metrics, and why a metric is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dyno.bundle.model import Phase
from dyno.bundle.phases.dss import DssDetail
from dyno.report.run.page import Page

REFRESH_STREAM = -1
FIGURES = ("power", "throughput", "composite")


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
    columns = ["t_ns", "end_ns", "stream", "position", "query", "target", "rows", "seconds"]
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


def figures(page: Page, target: str) -> dict[str, float]:
    """The available metrics of power, throughput and composite."""
    found = {name: page.value(f"dss.{target}.{name}") for name in FIGURES}
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
        lacking = [name for name in FIGURES if name in wanted - figures(page, target).keys()]
        if lacking:
            words = " and ".join(lacking)
            reasons[target] = f"no {words} score: {_why(page, target, found)}"
    return reasons


def _why(page: Page, target: str, found: list[Trial]) -> str:
    queries = sum(
        page.value(f"dss.{target}.{name}") or 0 for name in ("queries_failed", "throughput_failed")
    )
    functions = sum(
        page.value(f"dss.{target}.{name}_refresh_failed") or 0 for name in ("power", "throughput")
    )
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
    if not all(test.refresh for test in found):
        return "the refresh functions did not run"
    return "queries are missing"

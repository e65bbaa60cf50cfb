"""Response and service times by transaction for a terminal, at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import mixes
from dyno.bundle.metrics.oltp import Time
from dyno.bundle.model import Estimate, Finding
from dyno.bundle.reader import Bundle
from dyno.report.kit.formats import operation_title, rounded, users_title
from dyno.report.run.page import Level, Page
from dyno.safety.text import plain

TIMES: dict[Time, str] = {
    "p50": "p50",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p999": "p99.9",
    "max": "max",
}
"""Percentiles: suffix of the metric name, and title."""

_LABEL = 24
_WIDTH = 9


def latencies(
    bundle: Bundle, estimates: Iterable[Estimate], findings: Iterable[Finding]
) -> list[str]:
    """A line per transaction and time, for the level with the highest throughput.

    Of several workloads or targets at once, each has its lines. Empty if no transaction ended, and
    for runs with other parts.
    """
    page = Page.of(bundle, estimates, findings)
    if page.run.verb != "run":
        return []
    return [line for level in _levels(page) for line in _of_level(page, level)]


def _levels(page: Page) -> list[Level]:
    window = next(iter(mixes.together(page.run)), None)
    if window is None:
        return [] if page.best_level is None else [page.best_level]
    names = [member.level for member in window.detail.members]
    return [level for level in page.levels if level.name in names]


def _of_level(page: Page, best: Level) -> list[str]:
    title = users_title(best.phase.detail if best.phase else None, best.name)
    head = f"Milliseconds, {plain(title)}"
    names = "".join(f"{name:>{_WIDTH}}" for name in TIMES.values())
    heads = [f"{head:<{_LABEL}}{names}"]
    if len(head) >= _LABEL:
        heads = [head[:80], f"{'':<{_LABEL}}{names}"]
    lines: list[str] = []
    for operation in best.operations:
        for kind, key in best.metrics.operation(operation).kinds.items():
            values = [page.value(key(time)) for time in TIMES]
            if any(value is not None for value in values):
                name = plain(operation_title(operation))[:12] if kind == "response" else ""
                cells = "".join(f"{rounded(value):>{_WIDTH}}" for value in values)
                lines.append(f"{name:<13}{kind:<{_LABEL - 13}}{cells}")
    return [*heads, *lines] if lines else []

"""Response and service times by transaction for a terminal, at most 80 columns."""

from __future__ import annotations

import textwrap
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

_COLUMNS = 80
_WIDTH = 9
"""Of a time."""
_KIND = 8
"""Of the word before the times."""
_NAME = _COLUMNS - _KIND - _WIDTH * len(TIMES)
"""Most columns of a name beside its times; a longer one has a line of its own."""


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
    rows = list(_rows(page, best))
    if not rows:
        return []
    title = users_title(best.phase.detail if best.phase else None, best.name)
    head = textwrap.wrap(f"Milliseconds, {plain(title)}", _COLUMNS)
    longest = max((len(name) for name, _, _ in rows if len(name) < _NAME), default=0)
    width = max(longest + 1, len(head[-1]) - _KIND + 1)
    if width > _NAME:
        width, head = longest + 1, [*head, ""]
    lines = [*head[:-1], f"{head[-1]:<{width + _KIND}}{_cells(TIMES.values())}"]
    for name, kind, times in rows:
        beside = len(name) < _NAME
        lines += [] if beside else textwrap.wrap(name, _COLUMNS, subsequent_indent="  ")
        cells = _cells(map(rounded, times))
        lines.append(f"{name if beside else '':<{width}}{kind:<{_KIND}}{cells}")
    return lines


def _rows(page: Page, best: Level) -> Iterable[tuple[str, str, list[float | None]]]:
    """Title, kind and times of each row; the title only once."""
    for operation in best.operations:
        title = plain(operation_title(operation))
        for kind, key in best.metrics.operation(operation).kinds.items():
            values = [page.value(key(time)) for time in TIMES]
            if any(value is not None for value in values):
                yield title, kind, values
                title = ""


def _cells(texts: Iterable[str]) -> str:
    return "".join(f"{text:>{_WIDTH}}" for text in texts)

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
"""Of a time, at most."""
_KIND = 8
"""Of the word before the times."""


def latencies(
    bundle: Bundle, estimates: Iterable[Estimate], findings: Iterable[Finding]
) -> list[str]:
    """A line per transaction and time, for the level with the highest throughput.

    Of several workloads or targets at once, each has its lines; of a replay, response times only.
    Empty if no transaction ended, and for runs with other parts.
    """
    page = Page.of(bundle, estimates, findings)
    if page.run.verb not in {"run", "replay"}:
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
    cells = [list(TIMES.values()), *([rounded(time) for time in times] for _, _, times in rows)]
    each = min(_WIDTH, 2 + max(len(cell) for row in cells for cell in row))
    # A name that does not fit beside its times has a line of its own.
    most = _COLUMNS - _KIND - each * len(TIMES)
    longest = max((len(name) for name, _, _ in rows if len(name) < most), default=0)
    width = max(longest + 1, len(head[-1]) - _KIND + 1)
    if width > most:
        width, head = longest + 1, [*head, ""]
    texts = ["".join(f"{cell:>{each}}" for cell in row) for row in cells]
    lines = [*head[:-1], f"{head[-1]:<{width + _KIND}}{texts[0]}"]
    for (name, kind, _), times in zip(rows, texts[1:], strict=True):
        beside = len(name) < most
        lines += [] if beside else textwrap.wrap(name, _COLUMNS, subsequent_indent="  ")
        lines.append(f"{name if beside else '':<{width}}{kind:<{_KIND}}{times}")
    return lines


def _rows(page: Page, best: Level) -> Iterable[tuple[str, str, list[float | None]]]:
    """Title, kind and times of each row; the title only once."""
    for operation in best.operations:
        title = plain(operation_title(operation))
        kinds = best.metrics.operation(operation).kinds.items()
        # A log has many classes of statements.
        for kind, key in list(kinds)[:1] if page.run.verb == "replay" else kinds:
            values = [page.value(key(time)) for time in TIMES]
            if any(value is not None for value in values):
                yield title, kind, values
                title = ""

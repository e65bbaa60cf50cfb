"""Latency distributions of load levels: over time, by operation, and as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dyno.bundle.histograms import Latencies, Spread
from dyno.report.run.page import Level, Page

MOST_INTERVALS = 160
"""Intervals over time of all levels together."""


@dataclass
class Distribution:
    """Response times of a level.

    Attributes:
        intervals: Second since the start of the run, the latencies of all operations, and those of
            each operation.
        operations: Latencies of the whole level by operation.
        whole: Latencies of all operations.
    """

    intervals: list[tuple[float, Spread, dict[str, Spread]]] = field(
        default_factory=list[tuple[float, Spread, dict[str, Spread]]]
    )
    operations: dict[str, Spread] = field(default_factory=dict[str, Spread])
    whole: Spread | None = None


def distributions(page: Page, levels: Iterable[Level]) -> dict[str, Distribution]:
    """The distributions of levels by name, without warm-ups.

    Interval histograms are added up, so that percentiles are those of all operations.

    Raises:
        UsageError: If a histogram is damaged.
    """
    columns = ["t_ns", "phase", "op", "response"]
    tables = {
        level.name: [
            row
            for row in page.bundle.table(f"ops/{level.name}").select(columns).to_pylist()
            if row["phase"] == "measure" and row["response"] and None not in row.values()
        ]
        for level in levels
    }
    moments = {name: sorted({row["t_ns"] for row in rows}) for name, rows in tables.items()}
    count = sum(map(len, moments.values()))
    size = max(1, -(-count // MOST_INTERVALS))
    return {
        name: _distribution(page, rows, moments[name], size)
        for name, rows in tables.items()
        if rows
    }


def _distribution(
    page: Page, rows: list[dict[str, str]], moments: list[int], size: int
) -> Distribution:
    start = page.run.clock.unix_ns
    place_of = {t_ns: place // size for place, t_ns in enumerate(moments)}
    parts: dict[int, dict[str, Latencies]] = {}
    for row in rows:
        part = parts.setdefault(place_of[int(row["t_ns"])], {})
        part.setdefault(row["op"], Latencies()).add(row["response"])
    found = Distribution()
    whole: Latencies = Latencies()
    operations: dict[str, Latencies] = {}
    for place in sorted(parts):
        every = Latencies()
        for name, one in parts[place].items():
            every.merge(one)
            operations.setdefault(name, Latencies()).merge(one)
        whole.merge(every)
        own = moments[place * size : (place + 1) * size]
        second = ((own[0] + own[-1]) / 2 - start) / 1e9
        each = {name: one.spread for name, one in parts[place].items() if one.count}
        found.intervals.append((second, every.spread, each))
    found.operations = {name: one.spread for name, one in operations.items() if one.count}
    found.whole = whole.spread
    return found

"""Adds the intervals and outcomes of concurrent drivers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dyno.bundle.histograms import Latencies

_WARMUP = "warmup"
_COUNTS = ("late", "unsent", "carried_over", "unfinished", "reconnects", "threads", "stuck", "gone")
_WORST = ("thread_utilisation_max", "lag_p99_ms")
_PEAKS = ("client_cpu", "thread_utilisation", "lag_p99_ms", "late")


def start_ns(rows: Iterable[Mapping[str, Any]]) -> int | None:
    """Returns the start of a driver's measured time, ns since the Unix epoch; None if unknown."""
    return min((int(row["t_ns"]) for row in rows if row["phase"] != _WARMUP), default=None)


def interval_sums(
    tables: Sequence[Sequence[Mapping[str, Any]]], interval_s: float = 1.0
) -> list[dict[str, Any]]:
    """Adds the ``ops`` rows of several drivers per interval and operation.

    Intervals last ``interval_s``, counted from the measurement start of each driver. The sum uses
    the interval times of the first driver. The intervals of the others start later by less than one
    interval. Histograms are added, never percentiles.
    """
    step = round(interval_s * 1e9)
    starts = [start_ns(rows) for rows in tables]
    first = min((start for start in starts if start is not None), default=None)
    if first is None:
        return []
    groups: dict[tuple[int, str, str], list[Mapping[str, Any]]] = {}
    for rows, start in zip(tables, starts, strict=True):
        # A driver without records in its first intervals is late only in the record.
        late = ((first if start is None else start) - first) % step
        own = first + late
        for row in rows:
            place = (int(row["t_ns"]) - own) // step
            # Each driver defines its own measured phase, even if one starts an interval later.
            groups.setdefault((place, str(row["op"]), str(row["phase"])), []).append(row)
    # Operations keep the driver order, because the display order of a level follows its record.
    ops = list(dict.fromkeys(op for _, op, _ in groups))
    ordered = sorted(groups.items(), key=lambda one: (one[0][0], ops.index(one[0][1]), one[0][2]))
    return [_added(rows, first + place * step) for (place, *_), rows in ordered]


def summed_outcome(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Combines the outcomes of the drivers: sums counts and costs, takes the worst share or lag.

    Percentiles come from the summed intervals.
    """
    ended = sum(
        int(op["done"]) + int(op["rolled_back"]) for one in outcomes for op in one["ops"].values()
    )
    cpu_s = sum(float(one["client_cpu_s"]) for one in outcomes)
    first: dict[str, str] = {}
    for one in outcomes:
        first = {**one["errors_first"], **first}
    return {
        "seconds": max(float(one["seconds"]) for one in outcomes),
        "tps": sum(float(one["tps"]) for one in outcomes),
        "client_cpu_s": cpu_s,
        "client_cpu_ms_per_1000": 1e6 * cpu_s / ended if ended else 0.0,
        "scheduled": _scheduled(outcomes),
        "behind_ms": max(_known(outcomes, "behind_ms"), default=None),
        "lost": sum(lost) if (lost := _known(outcomes, "lost")) else None,
        "errors_first": first,
        "yields": all(bool(one.get("yields")) for one in outcomes),
        **{name: sum(int(one[name]) for one in outcomes) for name in _COUNTS},
        **{name: max(float(one[name]) for one in outcomes) for name in _WORST},
        "worst": {name: _peak(outcomes, name) for name in _PEAKS},
    }


def _known(outcomes: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    """Returns the values of the drivers that have one, which may be 0."""
    return [value for one in outcomes if (value := one.get(name)) is not None]


def _peak(outcomes: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, float] | None:
    """Returns the worst of the peak values of all drivers."""
    peaks = [peak for one in outcomes if (peak := one["worst"][name]) is not None]
    return max(peaks, key=lambda peak: float(peak["value"]), default=None)


def _added(rows: Sequence[Mapping[str, Any]], t_ns: int) -> dict[str, Any]:
    return {
        "t_ns": t_ns,
        "seconds": max(float(row["seconds"]) for row in rows),
        "op": rows[0]["op"],
        "done": sum(int(row["done"]) for row in rows),
        "rolled_back": sum(int(row["rolled_back"]) for row in rows),
        "errors": _counted(row["errors"] for row in rows),
        "retries": _counted(row["retries"] for row in rows),
        "response": _merged(row["response"] for row in rows),
        "service": _merged(row["service"] for row in rows),
        "phase": rows[0]["phase"],
    }


def _scheduled(outcomes: Sequence[Mapping[str, Any]]) -> int | None:
    """Returns the transactions scheduled in all open loops; None for closed loops."""
    due = [one["scheduled"] for one in outcomes]
    return None if None in due else sum(map(int, due))


def _counted(maps: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in maps:
        total.update(each)
    return dict(total)


def _merged(texts: Iterable[str]) -> str:
    total = Latencies()
    for text in texts:
        total.add(text)
    return total.encode()

"""Samples over time, thinned out to what a plot can show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dyno.bundle import Bundle

MOST_POINTS = 600

Key = tuple[str, str, str]
"""Source, subject and metric."""


@dataclass
class Series:
    """Readings over time: seconds since the start of the run, and values."""

    seconds: list[float] = field(default_factory=list[float])
    values: list[float] = field(default_factory=list[float])


def sampled(bundle: Bundle, wanted: Sequence[tuple[str, str]]) -> dict[Key, Series]:
    """Sampled series of the wanted sources and metrics, whatever their subject."""
    table = bundle.table("samples").to_pydict()
    start = bundle.run.clock.unix_ns
    series: dict[Key, Series] = {}
    names = zip(table["source"], table["subject"], table["metric"], strict=True)
    for key, t_ns, value in zip(names, table["t_ns"], table["value"], strict=True):
        source, subject, metric = key
        if (source, metric) not in wanted or subject is None:
            continue
        if t_ns is None or value is None or not math.isfinite(value):
            continue
        one = series.setdefault((source, subject, metric), Series())
        one.seconds.append((t_ns - start) / 1e9)
        one.values.append(value)
    return {key: thinned(one) for key, one in series.items()}


def thinned(series: Series, most: int = MOST_POINTS) -> Series:
    """Means of equally long runs of readings, so that at most ``most`` remain."""
    count = len(series.values)
    if count <= most:
        return series
    size = math.ceil(count / most)
    cuts = range(0, count, size)
    return Series(
        [_mean(series.seconds[at : at + size]) for at in cuts],
        [_mean(series.values[at : at + size]) for at in cuts],
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _filled(done: dict[int, float], step: int) -> dict[int, float]:
    """The same with zeros at both ends of each gap, as intervals without an end have no row."""
    moments = sorted(done)
    for one, following in pairwise(moments):
        if step and following - one > 1.5 * step:
            done[one + step] = done[following - step] = 0.0
    return done


def throughput(bundle: Bundle) -> Series:
    """Transactions a second over all levels of load, warm-ups included, with gaps as zeros."""
    start = bundle.run.clock.unix_ns
    series = Series()
    for level in bundle.levels():
        columns = ["t_ns", "seconds", "done", "rolled_back"]
        done: dict[int, float] = {}
        step = 0
        for row in bundle.table(f"ops/{level}").select(columns).to_pylist():
            if row["t_ns"] is not None and row["seconds"]:
                count = (row["done"] or 0) + (row["rolled_back"] or 0)
                done[row["t_ns"]] = done.get(row["t_ns"], 0.0) + count / row["seconds"]
                step = max(step, round(row["seconds"] * 1e9))
        moments = sorted(_filled(done, step))
        if not moments:
            continue
        # A level starts and ends at nothing, so that no line runs from one to the next.
        edge = 1_000_000
        points = [(moments[0] - edge, 0.0), *((at, done[at]) for at in moments)]
        points.append((moments[-1] + edge, 0.0))
        series.seconds += [(at - start) / 1e9 for at, _ in points]
        series.values += [value for _, value in points]
    return thinned(series)

"""Samples over time for plots: thinned with the weights of their mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from dyno.bundle.observed import Reading, Series, mean
from dyno.report.kit.charts.multiples import Point
from dyno.report.run.page import Page

MOST_POINTS = 240
_LONGEST_GAP_S = 5.0


def span(page: Page) -> tuple[float, float]:
    """First and last second of the phases, since the start of the run."""
    start = page.run.clock.unix_ns
    ends = [phase.end_ns for phase in page.run.phases if phase.end_ns is not None]
    return 0.0, max(((end - start) / 1e9 for end in ends), default=1.0) or 1.0


def extent(points: Iterable[Point]) -> tuple[float, float]:
    """First and last second of some points."""
    seconds = [point.second for point in points if point.value is not None]
    low, high = min(seconds, default=0.0), max(seconds, default=1.0)
    return low, high if high > low else low + 1.0


def points(page: Page, name: str, series: Series | None, scale: float = 1.0) -> list[Point]:
    """The points of a series, at most ``MOST_POINTS``; a gap in it breaks the line.

    Args:
        page: The page.
        name: Name of the series in the plot.
        series: The samples, if any.
        scale: Factor on the values, such as 100 for shares.
    """
    step_s = _step_s(page)
    gap_s = max(3 * step_s, _LONGEST_GAP_S)
    grouped = _grouped(page, [] if series is None else series.readings, step_s)
    means = [(second, mean(readings)) for second, readings in grouped]
    runs: list[list[tuple[float, float]]] = []
    for second, value in means:
        if value is None:
            continue
        if not runs or second - runs[-1][-1][0] > gap_s:
            runs.append([])
        runs[-1].append((second, value * scale))
    found: list[Point] = []
    for run in runs:
        found += [Point(name, second, value) for second, value in run]
        last, value = run[-1]
        if len(run) == 1:  # a line of one point would not show
            found.append(Point(name, last + step_s / 2, value))
        found.append(Point(name, last + step_s, None))
    return found[:-1]


def stack(page: Page, layers: Mapping[str, Sequence[Series]]) -> list[Point]:
    """The points of layers that are stacked: each the sum of its series, zero in gaps.

    Args:
        page: The page.
        layers: Series by name of the layer.
    """
    step_s = _step_s(page)
    sums: dict[str, dict[float, float]] = {}
    for name, several in layers.items():
        own = sums.setdefault(name, {})
        for series in several:
            for second, readings in _grouped(page, series.readings, step_s):
                own[second] = own.get(second, 0.0) + (mean(readings) or 0.0)
    moments = sorted({second for own in sums.values() for second in own})
    edges: set[float] = set()
    for one, following in pairwise(moments):
        if following - one > max(3 * step_s, _LONGEST_GAP_S):
            edges |= {one + step_s / 10, following - step_s / 10}
    return [
        Point(name, second, own.get(second, 0.0))
        for name, own in sums.items()
        for second in sorted({*moments, *edges})
    ]


def _step_s(page: Page) -> float:
    """The time between two points, at least that between two readings."""
    return max(span(page)[1] / MOST_POINTS, 1.0)


def _grouped(
    page: Page, readings: Iterable[Reading], step_s: float
) -> Iterable[tuple[float, list[Reading]]]:
    """Readings in equal steps of time, with the middle of each step in seconds."""
    start = page.run.clock.unix_ns
    groups: dict[int, list[Reading]] = {}
    for reading in readings:
        middle = ((reading.start_ns + reading.t_ns) / 2 - start) / 1e9
        groups.setdefault(int(middle // step_s), []).append(reading)
    for place in sorted(groups):
        yield (place + 0.5) * step_s, groups[place]

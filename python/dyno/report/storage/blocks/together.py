"""Charts of concurrent jobs and volumes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.bundle import metrics
from dyno.bundle.metrics.io import SIDES, Quantity, Rate
from dyno.profiles.volume_sets import Load
from dyno.report.kit.blocks import Figure, Row
from dyno.report.kit.charts import parts
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import rounded, with_unit
from dyno.report.run.page import Page
from dyno.report.storage.curves import UNITS, Curve, load_title
from dyno.report.storage.places import FilledSet
from dyno.report.storage.tables import by_metric, shown_load

_SIZE, _ROWS = Size(410), Size(410, 225)
_MOST_CURVES = 3
"""Curves with a chart by job; more have tables only."""


def together(page: Page, place: FilledSet) -> list[Row]:
    """Throughput and latency charts for curves of several jobs and for volumes."""
    made: list[Row] = []
    with_jobs = [curve for curve in place.curves if curve.jobs]
    for curve in with_jobs if len(with_jobs) <= _MOST_CURVES else []:
        made += _jobs(page, place, curve)
    return [*made, *_volumes(page, place)]


def _jobs(page: Page, place: FilledSet, curve: Curve) -> list[Row]:
    """Lines over the load; dots for a single load."""
    if not curve.loads:
        return []
    first, *more = curve.loads
    named = [(curve, load, job, curve.at(load).job(job)) for job in curve.jobs
             for load in curve.loads]  # fmt: skip
    found: list[Figure | None] = []
    for metric in (_Metric(page, place, curve.metric), _Metric(page, place, None)):
        which = f"{metric.words} of each job of {curve.kind}{place.of}"
        if more:
            found.append(_lines(metric, metric.points(named, by_load=True), which, curve))
        else:
            which += f", at {load_title(first)}"
            found.append(_dots(metric, metric.points(named), which))
    return _rows(found)


def _volumes(page: Page, place: FilledSet) -> list[Row]:
    """Each volume at the joint best load: a row of dots for each curve."""
    spread = [curve for curve in place.curves if curve.volumes]
    which = f"of each volume{place.of}, at the best load of each curve"
    found: list[Figure | None] = []
    for about, curves in by_metric(spread):
        metric = _Metric(page, place, about)
        found.append(_dots(metric, metric.points(_at_best(curves)), f"{metric.words} {which}"))
    # Other curves have no ceiling.
    bound = [curve for curve in spread if curve.metric == "iops"]
    metric = _Metric(page, place, None)
    found.append(_dots(metric, metric.points(_at_best(bound)), f"{metric.words} {which}"))
    return _rows(found)


def _rows(found: Iterable[Figure | None]) -> list[Row]:
    kept = [one for one in found if one is not None]
    return [Row(kept[at : at + 2], even=True) for at in range(0, len(kept), 2)]


_Named = tuple[Curve, Load, str, metrics.Part]
"""A curve, one of its loads, a job or volume, and its metrics."""


def _at_best(curves: Iterable[Curve]) -> list[_Named]:
    return [
        (curve, load, volume, curve.at(load).volume(volume))
        for curve in curves
        if (load := shown_load(curve)) is not None
        for volume in curve.volumes
    ]


class _Metric:
    """A metric of a place: IOPS, MB/s, or the latency that its ceiling limits."""

    def __init__(self, page: Page, place: FilledSet, about: Rate | None) -> None:
        self.page = page
        self.about: Rate | None = about
        ceiling = place.volume_set.ceiling
        self.of: Quantity = ceiling.of
        self.unit = UNITS[about] if about else "ms"
        self.title = UNITS[about] if about else f"{ceiling.of} latency, ms"
        self.words = "MB/s (10⁶ bytes)" if about == "mbps" else self.title.replace(",", " in")
        self.words = self.words[0].upper() + self.words[1:]
        self.limit = None if about else ceiling.ms

    @property
    def explained(self) -> str:
        """Explains the latency of a part."""
        if self.about:
            return ""
        bound = with_unit(self.limit, "ms")
        return f" Latency: the slowest of reads, writes and syncs; the ceiling is {bound}."

    def value(self, at: metrics.Part) -> float | None:
        """The value of a part: that of its slowest side, by response time if any."""
        if self.about:
            return self.page.value(at.rate(self.about))
        found: list[float] = []
        for side in SIDES:
            for response in (True, False):
                value = self.page.value(at.side(side).latency(self.of, response=response))
                if value:
                    found.append(value)
                    break
        return max(found, default=None)

    def points(self, named: Iterable[_Named], *, by_load: bool = False) -> list[parts.Point]:
        """A point for each part with a value above zero: over its load, or in its curve's row."""
        made: list[parts.Point] = []
        for curve, load, part, of_part in named:
            value = self.value(of_part)
            if not value:
                continue
            of = f"{self.of} " * (not self.about)
            words = f"{part}, {curve.short}, {load_title(load)}: {of}{rounded(value)} {self.unit}"
            at = _number(load) if by_load else curve.short
            made.append(parts.Point(part, at, value, words))
        return made


def _number(load: Load) -> float:
    return load.rate if load.by_rate and load.rate is not None else float(load.depth)


def _lines(
    metric: _Metric, points: Sequence[parts.Point], which: str, curve: Curve
) -> Figure | None:
    if len({point.at for point in points}) < 2:
        return None
    across = "Requested IOPS, all jobs" if curve.is_open else "Queue depth, all jobs"
    caption = f"{which}, by total load.{metric.explained}"
    return Figure(
        render(
            lambda width: parts.over_load(points, across, metric.title, width, limit=metric.limit),
            _SIZE,
            f"{caption} " + "; ".join(point.words for point in points),
        ),
        caption,
        keys([point.series for point in points], shapes=True),
    )


def _dots(metric: _Metric, points: Sequence[parts.Point], which: str) -> Figure | None:
    if not points:
        return None
    names = list(dict.fromkeys(point.series for point in points))
    few = len(names) <= parts.MOST_SERIES
    caption = f"{which}.{f' {len(names)} dots.' * (not few)}{metric.explained}"
    said = [point.words for point in (points if few else _ends(points))]
    return Figure(
        render(
            lambda width: parts.dots(points, metric.title, width, limit=metric.limit),
            _ROWS,
            f"{caption} " + "; ".join(said),
        ),
        caption,
        keys(names, shapes=True) if few else (),
    )


def _ends(points: Sequence[parts.Point]) -> list[parts.Point]:
    """The lowest and the highest of each row."""
    found: list[parts.Point] = []
    for row in dict.fromkeys(point.at for point in points):
        own = sorted((point for point in points if point.at == row), key=lambda one: one.value)
        found += dict.fromkeys([own[0], own[-1]])
    return found

"""Scaling over concurrent volumes, against linear scaling."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.bundle.metrics.io import Rate
from dyno.report.kit.blocks import Block, Cell, Column, Figure, Row, Table
from dyno.report.kit.charts import lines
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import rounded, spanned
from dyno.report.run.page import Page
from dyno.report.storage.comparison import efficiency
from dyno.report.storage.curves import UNITS, Curve, headlines, rates
from dyno.report.storage.places import FilledSet

_SIZE = Size(410)
_MOST_LINES = 6


def scaling(page: Page, own: Sequence[FilledSet]) -> list[Block]:
    """A line per curve over the number of volumes; linear scaling dashed."""
    figures: list[Figure] = []
    for about in rates(own[0].curves):
        curves = [curve for curve in own[0].curves if curve.metric == about]
        if len(curves) > _MOST_LINES:
            curves = headlines(curves)[:_MOST_LINES]
        points = [point for curve in curves for point in _points(own, curve)]
        if points:
            figures.append(_figure(points, own, about))
    stage = own[0].stage
    full = f" at {stage.label} full" if stage.label else ""
    rows: list[list[str | Cell]] = [
        [curve.title, str(len(place.volume_set.members)),
         spanned(efficiency(page, place, curve.name), rounded, " %"), rounded(curve.value),
         curve.unit, place.volume_set.label]
        for at in own[0].curves
        for place in own
        if (curve := place.curve(at.name)) is not None
    ]  # fmt: skip
    # The key column comes first: a narrow page shows the first columns only.
    columns = [Column("Curve"), Column("Volumes", numeric=True), Column("Efficiency", numeric=True)]
    columns += [Column("Best", numeric=True), Column("Unit"), Column("Which")]
    note = (
        "Efficiency: in % of the sum of the volumes' bests alone; a volume not measured alone "
        "counts as the first one. In brackets: 95 % interval."
    )
    table = Table(f"By number of volumes{full}", columns, rows, note=note)
    pairs = [figures[at : at + 2] for at in range(0, len(figures), 2)]
    return [*(Row(pair, even=True) for pair in pairs), table]


def _points(own: Sequence[FilledSet], first: Curve) -> list[lines.Point]:
    points: list[lines.Point] = []
    for place in own:
        curve = place.curve(first.name)
        if curve is None or curve.best is None:
            continue
        count, best = len(place.volume_set.members), curve.best
        words = f"{curve.title}, {count} volumes: {rounded(best.value)} {curve.unit}"
        points.append(lines.Point(first.title, count, best.value, words, best.low, best.high))
    return points


def _figure(points: list[lines.Point], own: Sequence[FilledSet], about: Rate) -> Figure:
    unit, ceiling = UNITS[about], own[0].volume_set.ceiling
    axis = unit
    if about == "iops":
        axis = f"IOPS with {ceiling.of} within {rounded(ceiling.ms)} ms"
    ideal: list[lines.Point] = []
    for name in dict.fromkeys(point.series for point in points):
        line = [point for point in points if point.series == name]
        each = line[0].value / line[0].at
        ideal += [lines.Point(name, point.at, each * point.at, "") for point in line]
    caption = (
        f"{axis} by number of concurrent volumes{' (MB: 10⁶ bytes)' * (about == 'mbps')}. "
        "Dashed: linear scaling."
    )
    return Figure(
        render(
            lambda width: lines.lines(points, "Concurrent volumes", axis, width, ideal=ideal),
            _SIZE,
            f"{caption} " + "; ".join(point.words for point in points),
        ),
        caption,
        keys([point.series for point in points], shapes=True),
    )

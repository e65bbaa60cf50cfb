"""Scaling of a metric with a factor: means with intervals, fitted curve, linear scaling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

_DOUBLING, _FURTHEST = 4.0, 2.0


@dataclass(frozen=True)
class Point:
    """A value at a level.

    Attributes:
        low, high: 95 % interval.
    """

    series: str
    x: float
    y: float
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class At:
    """A point of a line."""

    series: str
    x: float
    y: float


def growth(
    points: Sequence[Point],
    fitted: Sequence[At],
    proportion: Sequence[At],
    names: Sequence[str],
    across: str,
    upwards: str,
    width: int,
) -> Chart:
    """Points with intervals, the fitted curve as a solid line, linear scaling as a dashed line.

    Args:
        points: At least one.
        fitted: Points of each fitted curve, dense enough to look smooth.
        proportion: Points of each linear scaling line.
        names: Series in the order of the palette; some may have no points.
        across: The factor.
        upwards: The metric, with its unit.
        width: Width of the plot.
    """
    import altair as alt

    data = Data()
    numbers = sorted({point.x for point in points})
    doubling = numbers[0] > 0 and numbers[-1] / numbers[0] >= _DOUBLING
    doubling = doubling and all(point.y > 0 for point in points)
    margin = (numbers[-1] - numbers[0]) * 0.06 or 1.0
    domain = [numbers[0] - margin, numbers[-1] + margin]
    scale = alt.Scale(domain=domain, nice=False)
    if doubling:
        scale = alt.Scale(type="log", base=2, domain=[numbers[0] / 1.15, numbers[-1] * 1.15])
    x = alt.X(
        "x:Q", scale=scale,
        axis=alt.Axis(title=across, values=numbers, format=",~r", labelAngle=0, grid=False),
    )  # fmt: skip
    # Intervals and linear scaling may extend far beyond the measurements; clipped at the edge.
    least, highest = min(point.y for point in points), max(point.y for point in points)
    top = 1.12 * min(max(point.high for point in points), _FURTHEST * highest)
    # Power laws and linear scaling are straight on log axes; linear scaling on linear axes too.
    bottom = max(min(point.low for point in points), least / _FURTHEST) / 1.12 if doubling else 0.0
    spans = [replace(point, high=min(point.high, top), low=max(point.low, bottom))
             for point in points]  # fmt: skip
    vertical = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(title=None, format=",~r", tickCount=5)
    if doubling:
        vertical = alt.Scale(type="log", domain=[bottom, top])
        steps = (1, 2, 5) if top / bottom < 60 else (1,)
        axis = alt.Axis(title=None, format=",~r", values=theme.log_ticks(bottom, top, steps))
    y = alt.Y("y:Q", scale=vertical, axis=axis)
    colours = alt.Scale(**theme.series_range(names, theme.SERIES))
    shapes = alt.Scale(**theme.series_range(names, theme.SHAPES))
    color = alt.Color("series:N", sort=names, scale=colours, legend=None)
    shape = alt.Shape("series:N", sort=names, scale=shapes, legend=None)
    layers: list[Any] = []
    for line, dash, wide in ((proportion, [3, 4], 1.3), (fitted, [1, 0], 1.8)):
        seen = [at for at in line if bottom <= at.y <= top]
        if seen:
            drawn = alt.Chart(data.named(seen)).mark_line(
                strokeDash=dash, strokeWidth=wide, aria=False
            )
            layers.append(drawn.encode(x=x, y=y, color=color, detail="series:N", order="x:Q"))
    base = alt.Chart(data.named(spans))
    layers.append(
        base.mark_rule(strokeWidth=1.4, opacity=0.8, aria=False).encode(
            x=x, y=alt.Y("low:Q", title=None, scale=vertical), y2="high:Q", color=color
        )
    )
    layers.append(
        base.mark_point(size=62, filled=True, opacity=1).encode(
            x=x, y=y, color=color, shape=shape, description="words:N"
        )
    )
    named = alt.Title(upwards, frame="group", anchor="start")
    height = max(230, width // 2)
    return Chart(alt.layer(*layers).properties(width=width, height=height, title=named), data)

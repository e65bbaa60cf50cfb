"""Line charts over a few numbers: block sizes, numbers of volumes, fill levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

_MOST_TICKS = 12


@dataclass(frozen=True)
class Point:
    """A value of a series at a number.

    Attributes:
        low, high: 95 % interval of the value, if any.
    """

    series: str
    at: float
    value: float
    words: str
    low: float | None = None
    high: float | None = None


def lines(
    points: Sequence[Point],
    across: str,
    upwards: str,
    width: int,
    *,
    doubling: bool = False,
    ideal: Sequence[Point] = (),
) -> Chart:
    """A line with markers for each series; both axes have titles, values start at zero.

    Args:
        points: In the order of the palette.
        across: The title of the x axis, with the unit.
        upwards: The title of the y axis, with the unit.
        width: Width of the plot.
        doubling: Whether the numbers double: the axis is then logarithmic.
        ideal: Points of the same series, drawn dashed and without markers.
    """
    import altair as alt

    names = list(dict.fromkeys(point.series for point in points))
    numbers = sorted({point.at for point in points})
    data = Data()
    x = alt.X("at:Q", scale=_scale(numbers, doubling), axis=_axis(across, numbers))
    y = alt.Y("value:Q", axis=alt.Axis(title=upwards, format=",~r", tickCount=5))
    colours = alt.Scale(**theme.series_range(names, theme.SERIES))
    color = alt.Color("series:N", sort=names, scale=colours, legend=None)
    shapes = alt.Scale(**theme.series_range(names, theme.SHAPES))
    shape = alt.Shape("series:N", sort=names, scale=shapes, legend=None)
    base = alt.Chart(data.named(points)).encode(x=x, y=y, color=color)
    layers: list[Any] = [base.mark_line(strokeWidth=1.8, aria=False).encode(detail="series:N")]
    if ideal:
        line = alt.Chart(data.named(ideal)).mark_line(
            strokeWidth=1.3, strokeDash=[3, 4], opacity=0.8, aria=False
        )
        layers.insert(0, line.encode(x=x, y=y, color=color, detail="series:N"))
    spans = [point for point in points if point.low is not None and point.high is not None]
    if spans:
        rule = alt.Chart(data.named(spans)).mark_rule(strokeWidth=1.4, opacity=0.7, aria=False)
        layers.append(
            rule.encode(
                x=x,
                y=alt.Y("low:Q", title=upwards),
                y2="high:Q",
                color=color,
            )
        )
    layers.append(
        base.mark_point(
            size=58 if len(numbers) <= _MOST_TICKS else 20, filled=True, opacity=1
        ).encode(shape=shape, description="words:N")
    )
    chart = alt.layer(*layers).properties(width=width, height=max(220, width * 3 // 7))
    return Chart(chart, data)


def _scale(numbers: Sequence[float], doubling: bool) -> Any:
    import altair as alt

    if doubling and numbers[0] > 0:
        return alt.Scale(type="log", base=2, domain=[numbers[0] / 1.2, numbers[-1] * 1.2])
    margin = (numbers[-1] - numbers[0]) * 0.08 or 1.0
    return alt.Scale(domain=[numbers[0] - margin, numbers[-1] + margin], nice=False)


def _axis(title: str, numbers: Sequence[float]) -> Any:
    import altair as alt

    axis = alt.Axis(title=title, values=list(numbers), format=",~r", labelAngle=0, grid=False)
    if len(numbers) > _MOST_TICKS:  # a tick for each would overlap
        axis = alt.Axis(title=title, tickCount=6, tickMinStep=1, format=",~r", grid=False)
    return axis

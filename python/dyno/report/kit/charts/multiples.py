"""Small multiples over time: panels with their own values on one common time axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

_HEIGHT = 84
_AXIS = 62
"""Pixels between two panels in a row: labels of the axis, and a gap."""
_NARROWEST = 150
_LABELS = 40
"""Pixels of the labels of the value axis."""
_SHORT = "datum.value >= 10000 ? format(datum.value, '~s') : format(datum.value, ',~r')"
"""A Vega expression: ``40k`` for large values."""


@dataclass(frozen=True)
class Point:
    """A value of a series at a time, in seconds since the start; None breaks the line."""

    series: str
    second: float
    value: float | None


@dataclass(frozen=True)
class Panel:
    """One metric over time.

    Attributes:
        title: The metric with its unit.
        points: Each series in order of time.
        top: Fixed upper end of the axis, as for %.
        stacked: Whether the series add up: areas on one another, with a value at every time.
        series: Series in the order of the dashes, the first solid; by default those of the points.
    """

    title: str
    points: Sequence[Point]
    top: float | None = None
    stacked: bool = False
    series: Sequence[str] = ()


def multiples(
    panels: Sequence[Panel],
    colours: dict[str, str],
    span: tuple[float, float],
    columns: int,
    width: int,
    *,
    height: int = _HEIGHT,
) -> Chart:
    """Panels in rows of ``columns``, fewer on a narrow page.

    Args:
        panels: In reading order.
        colours: Colour by series, in the order of the legend.
        span: First and last second of the time axis.
        columns: Panels in a row of a wide page.
        width: Width of the plot.
        height: Height of a panel.
    """
    import altair as alt

    fit = max(1, min(columns, (width + _AXIS) // (_NARROWEST + _AXIS)))
    own = (width - (fit - 1) * _AXIS) // fit
    data = Data()
    parts: list[Any] = []
    for number, panel in enumerate(panels):
        last = number + fit >= len(panels)
        parts.append(_panel(data, panel, colours, span, (own, height), last=last))
    # Flush: the plots of a column align, whatever their labels need.
    rows = [
        alt.hconcat(*parts[at : at + fit], spacing=_AXIS, bounds="flush").resolve_scale(
            color="independent", strokeDash="independent"
        )
        for at in range(0, len(parts), fit)
    ]
    chart: Any = alt.vconcat(*rows, spacing=12)
    return Chart(chart.resolve_scale(color="independent", strokeDash="independent"), data)


def _panel(
    data: Data,
    panel: Panel,
    colours: dict[str, str],
    span: tuple[float, float],
    size: tuple[int, int],
    *,
    last: bool,
) -> Any:
    import altair as alt

    width, height = size
    names = list(dict.fromkeys([*panel.series, *(point.series for point in panel.points)]))
    axis = alt.Axis(
        title="Seconds since the start" if last else None,
        labels=last,
        ticks=last,
        grid=False,
        format=",~r",
        tickCount=max(2, width // 90),
    )
    x = alt.X("second:Q", scale=alt.Scale(domain=list(span), nice=False), axis=axis)
    y = alt.Y(
        "value:Q",
        scale=alt.Scale() if panel.top is None else alt.Scale(domain=[0, panel.top]),
        # Short labels of one extent: the panels below each other align.
        axis=alt.Axis(
            title=None, labelExpr=_SHORT, tickCount=4, minExtent=_LABELS, maxExtent=_LABELS
        ),
        stack=True if panel.stacked else None,
    )
    scale = alt.Scale(domain=names, range=[colours[name] for name in names])
    color = alt.Color("series:N", scale=scale, sort=names, legend=None)
    base = alt.Chart(data.named(panel.points))
    if panel.stacked:
        order = {name: place for place, name in enumerate(names)}
        rows = [{**vars(point), "place": order[point.series]} for point in panel.points]
        area = alt.Chart(data.named(rows)).mark_area(interpolate="step", clip=True, aria=False)
        marks = area.encode(x=x, y=y, color=color, order="place:Q")
    else:
        dashes = alt.Scale(**theme.series_range(names, theme.DASHES))
        line = base.mark_line(strokeWidth=1.4, interpolate="linear", clip=True, aria=False)
        dash = alt.StrokeDash("series:N", sort=names, scale=dashes, legend=None)
        marks = line.encode(x=x, y=y, color=color, strokeDash=dash)
    # In the frame of the plot, so that the titles of a row align.
    title = alt.Title(panel.title, frame="group", anchor="start")
    # Layered, so that the scales of the panels stay independent.
    return alt.layer(marks).properties(width=width, height=height, title=title)

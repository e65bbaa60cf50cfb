"""Storage: latency over throughput, one point per load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data


@dataclass(frozen=True)
class Point:
    """One load of a curve: IOPS, and the latency of its reads or its writes in ms.

    Attributes:
        place: The position of the load in the curve, from the smallest.
        label: A short label of the load.
    """

    series: str
    place: int
    label: str
    iops: float
    latency: float
    words: str


def latency(points: Sequence[Point], ceiling_ms: float, quantity: str, width: int) -> Chart:
    """IOPS on the x axis, latency on a logarithmic y axis, the ceiling as a line, labelled loads.

    Args:
        points: Points of one or several curves, each in load order.
        ceiling_ms: The ceiling of that latency.
        quantity: The latency, such as ``p95 latency``.
        width: Width of the plot.
    """
    import altair as alt

    names = list(dict.fromkeys(point.series for point in points))
    data = Data()
    x_axis = alt.Axis(title="IOPS", format=",.0f", tickCount=max(3, width // 110))
    x = alt.X("iops:Q", axis=x_axis, scale=alt.Scale(zero=True))
    latencies = [point.latency for point in points]
    low, high = min(latencies) / 2, max([*latencies, ceiling_ms]) * 1.6
    y_axis = alt.Axis(title=f"{quantity}, ms", format="~g", values=theme.log_ticks(low, high))
    y = alt.Y("latency:Q", axis=y_axis, scale=alt.Scale(type="log", domain=[low, high]))
    colours = alt.Scale(**theme.series_range(names, theme.SERIES))
    shapes = alt.Scale(**theme.series_range(names, theme.SHAPES))
    color = alt.Color("series:N", sort=names, scale=colours, legend=None)
    shape = alt.Shape("series:N", sort=names, scale=shapes, legend=None)
    base = alt.Chart(data.named(points))
    # `order` joins the points by load: beyond saturation, IOPS fall as the load rises.
    lines = base.mark_line(strokeWidth=1.8, aria=False).encode(
        x=x, y=y, color=color, detail="series:N", order="place:Q"
    )
    marks = base.mark_point(size=52, filled=True, opacity=1).encode(
        x=x, y=y, color=color, shape=shape, description="words:N"
    )
    labelled = [point for point in points if point.series == names[0]]
    depths = (
        alt.Chart(data.named(_apart(labelled, width)))
        .mark_text(align="left", dx=5, dy=11, fontSize=theme.FONT_SIZE - 2, aria=False)
        .encode(x=x, y=y, text="label:N", color=alt.value(theme.MUTED))
    )
    rule = ceiling(ceiling_ms, y, data, width, right=_crowded(points, ceiling_ms))
    layers = alt.layer(*rule, lines, marks, depths)
    return Chart(layers.properties(width=width, height=max(270, width // 2)), data)


def _apart(points: Sequence[Point], width: int) -> list[Point]:
    """Points with labels that do not overlap the previous label."""
    import math

    kept: list[Point] = []
    widest = max((point.iops for point in points), default=1.0) or 1.0
    for point in points:
        if kept:
            across = abs(point.iops - kept[-1].iops) / widest * width
            up = abs(math.log(point.latency / kept[-1].latency)) * 40
            if math.hypot(across, up) < 14:
                continue
        kept.append(point)
    return kept


def _crowded(points: Sequence[Point], ceiling_ms: float) -> bool:
    """Whether more curves are near the ceiling on the left than on the right."""
    middle = max(point.iops for point in points) / 2
    near = [point.iops < middle for point in points if 0.5 < point.latency / ceiling_ms < 4]
    return sum(near) * 2 > len(near)


def ceiling(ceiling_ms: float, y: Any, data: Data, width: int, *, right: bool) -> list[Any]:
    """The layers of a dashed horizontal line with a label at one end.

    Args:
        ceiling_ms: Its value.
        y: The encoding of latency.
        data: The data of the chart.
        width: Width of the plot.
        right: Whether the label is at the right end.
    """
    import altair as alt

    named = data.named([{"latency": ceiling_ms, "words": f"ceiling {ceiling_ms:g} ms"}])
    rule = alt.Chart(named).mark_rule(strokeDash=[5, 4], strokeWidth=1.2, aria=False)
    base = alt.Chart(named)
    text = (
        base.mark_text(align="right", dx=-4, dy=-7, aria=False)
        if right
        else base.mark_text(align="left", dx=4, dy=-7, aria=False)
    )
    return [
        rule.encode(y=y, color=alt.value(theme.MUTED)),
        text.encode(
            y=y, text="words:N", x=alt.value(width if right else 0), color=alt.value(theme.MUTED)
        ),
    ]

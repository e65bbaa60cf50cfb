"""Storage: throughput against latency by depth, and sequential throughput."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.charts import theme
from dyno.report.charts.render import Chart, Data


@dataclass(frozen=True)
class Point:
    """One queue depth of a curve: IOPS, and the p95 latency of its reads or its writes in ms."""

    series: str
    depth: int
    iops: float
    latency: float
    words: str


def latency(points: Sequence[Point], ceiling_ms: float, width: int) -> Chart:
    """IOPS across, p95 latency up (logarithmic), the ceiling as a line, depths at the points."""
    import altair as alt

    names = list(dict.fromkeys(point.series for point in points))
    data = Data()
    x_axis = alt.Axis(title="IOPS", format=",.0f", tickCount=max(3, width // 110))
    x = alt.X("iops:Q", axis=x_axis)
    latencies = [point.latency for point in points]
    low, high = min(latencies) / 2, max([*latencies, ceiling_ms]) * 1.6
    y_axis = alt.Axis(title="p95 latency, ms", format="~g", values=theme.log_ticks(low, high))
    y = alt.Y("latency:Q", axis=y_axis, scale=alt.Scale(type="log", domain=[low, high]))
    colours = alt.Scale(**theme.series_range(names, theme.SERIES))
    shapes = alt.Scale(**theme.series_range(names, theme.SHAPES))
    color = alt.Color("series:N", sort=names, scale=colours, legend=None)
    shape = alt.Shape("series:N", sort=names, scale=shapes, legend=None)
    base = alt.Chart(data.named(points))
    # `order` joins the points by depth: beyond saturation IOPS fall while the depth rises.
    lines = base.mark_line(strokeWidth=1.8, aria=False).encode(
        x=x, y=y, color=color, detail="series:N", order="depth:Q"
    )
    marks = base.mark_point(size=52, filled=True, opacity=1).encode(
        x=x, y=y, color=color, shape=shape, description="words:N"
    )
    labelled = [point for point in points if point.series == names[0]]
    depths = (
        alt.Chart(data.named(_apart(labelled, width)))
        .mark_text(align="left", dx=5, dy=11, fontSize=theme.FONT_SIZE - 2, aria=False)
        .encode(x=x, y=y, text="depth:Q", color=alt.value(theme.MUTED))
    )
    layers = alt.layer(*_ceiling(ceiling_ms, y, data), lines, marks, depths)
    return Chart(layers.properties(width=width, height=max(270, width // 2)), data)


def _apart(points: Sequence[Point], width: int) -> list[Point]:
    """Points whose labels do not run into that of the one before, vertically or across."""
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


def _ceiling(ceiling_ms: float, y: Any, data: Data) -> list[Any]:
    import altair as alt

    named = data.named([{"latency": ceiling_ms, "words": f"ceiling {ceiling_ms:g} ms"}])
    rule = alt.Chart(named).mark_rule(strokeDash=[5, 4], strokeWidth=1.2, aria=False)
    text = alt.Chart(named).mark_text(align="left", dx=4, dy=-7, x=0, aria=False)
    return [
        rule.encode(y=y, color=alt.value(theme.MUTED)),
        text.encode(y=y, text="words:N", x=alt.value(0), color=alt.value(theme.MUTED)),
    ]


@dataclass(frozen=True)
class Bar:
    """Sequential throughput at a depth, MB/s."""

    series: str
    depth: str
    mbps: float
    words: str


def sequential(bars: Sequence[Bar], width: int) -> Chart:
    """MB/s by depth, a bar for reads and one for writes, with its value above."""
    import altair as alt

    names = list(dict.fromkeys(bar.series for bar in bars))
    depths = list(dict.fromkeys(bar.depth for bar in bars))
    data = Data()
    base = alt.Chart(data.named(bars)).encode(
        x=alt.X("depth:N", sort=depths, axis=alt.Axis(title="Queue depth", labelAngle=0)),
        xOffset=alt.XOffset("series:N", sort=names),
        y=alt.Y("mbps:Q", axis=alt.Axis(title="MB/s", format=",.0f", tickCount=5)),
    )
    columns = base.mark_bar().encode(
        color=alt.Color(
            "series:N",
            sort=names,
            scale=alt.Scale(**theme.series_range(names, theme.SERIES)),
            legend=None,
        ),
        description="words:N",
    )
    values = base.mark_text(dy=-7, fontSize=theme.FONT_SIZE - 2, aria=False).encode(
        text=alt.Text("mbps:Q", format=",.0f"), color=alt.value(theme.INK)
    )
    return Chart(alt.layer(columns, values).properties(width=width, height=270), data)

"""Concurrent parts side by side: jobs over the load, volumes as dots in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data
from dyno.report.kit.charts.storage import ceiling

_LABELS, _ROW = 132, 26
_LABEL_PIXELS = 26
MOST_SERIES = len(theme.SERIES)
"""Number of distinguishable series; with more, all dots look alike."""


@dataclass(frozen=True)
class Point:
    """A value of a series: at a load for lines, in a group for dots."""

    series: str
    at: float | str
    value: float
    words: str


def over_load(
    points: Sequence[Point], across: str, upwards: str, width: int, *, limit: float | None = None
) -> Chart:
    """A line for each series over the load; both axes are logarithmic.

    Args:
        points: In the order of the palette, each series by ascending load.
        across: The title of the load axis, with the unit.
        upwards: The title of the value axis, with the unit.
        width: Width of the plot.
        limit: A ceiling in ms, if the values are latencies.
    """
    import altair as alt

    names = list(dict.fromkeys(point.series for point in points))
    loads = sorted({float(point.at) for point in points})
    data = Data()
    x = alt.X(
        "at:Q",
        scale=alt.Scale(type="log", base=2, domain=[loads[0] / 1.2, loads[-1] * 1.2]),
        axis=alt.Axis(title=across, values=_apart(loads, width), format=",~r", grid=False),
    )
    y = alt.Y("value:Q", **_logarithmic([point.value for point in points], upwards, limit))
    color, shape = _encodings(names)
    base = alt.Chart(data.named(points)).encode(x=x, y=y, color=color)
    layers: list[Any] = []
    if limit is not None:
        # The label goes where fewer lines are near: latency rises with the load.
        layers += ceiling(limit, alt.Y("latency:Q", scale=y["scale"]), data, width, right=False)
    layers.append(base.mark_line(strokeWidth=1.8, aria=False).encode(detail="series:N"))
    layers.append(
        base.mark_point(size=58, filled=True, opacity=1).encode(shape=shape, description="words:N")
    )
    chart = alt.layer(*layers).properties(width=width, height=max(220, width * 3 // 7))
    return Chart(chart, data)


def dots(points: Sequence[Point], across: str, width: int, *, limit: float | None = None) -> Chart:
    """A row for each group, with a dot for each series at its value.

    Up to six series have their own colour, shape and lane. Values start at zero, or with a
    ``limit``, a ceiling in ms, the axis is logarithmic.
    """
    import altair as alt

    names = list(dict.fromkeys(point.series for point in points))
    groups = list(dict.fromkeys(str(point.at) for point in points))
    several = len(names) <= MOST_SERIES
    data = Data()
    values = [point.value for point in points]
    if limit is None:
        axis = alt.Axis(title=across, format=",~r", tickCount=max(2, width // 110))
        x = alt.X("value:Q", scale=alt.Scale(domain=[0, max(values) * 1.05 or 1.0]), axis=axis)
    else:
        x = alt.X("value:Q", **_logarithmic(values, across, limit))
    labels = alt.Axis(title=None, labelLimit=150, minExtent=_LABELS, domain=False, ticks=False)
    base = alt.Chart(data.named(points)).encode(
        x=x, y=alt.Y("at:N", sort=groups, axis=labels, scale=alt.Scale(paddingInner=0.3))
    )
    layers: list[Any] = []
    if limit is not None:
        named = data.named([{"value": limit, "words": f"ceiling {limit:g} ms"}])
        rule = alt.Chart(named).mark_rule(strokeDash=[5, 4], strokeWidth=1.2, aria=False)
        low, high = x["scale"]["domain"]
        size = theme.FONT_SIZE - 1
        texts = alt.Chart(named)
        text = (
            texts.mark_text(align="right", dx=-4, baseline="top", fontSize=size, aria=False)
            if limit * limit > low * high
            else texts.mark_text(align="left", dx=4, baseline="top", fontSize=size, aria=False)
        )
        muted = alt.value(theme.MUTED)
        layers.append(rule.encode(x=x, color=muted))
        layers.append(text.encode(x=x, y=alt.value(2), text="words:N", color=muted))
    if several:
        color, shape = _encodings(names)
        marks = base.mark_point(size=58, filled=True, opacity=1).encode(
            color=color, shape=shape, yOffset=alt.YOffset("series:N", sort=names)
        )
    else:
        marks = base.mark_point(size=40, filled=True, opacity=0.45, color=theme.BLUE)
    layers.append(marks.encode(description="words:N"))
    lanes = max(1, len(names)) if several else 1
    height = len(groups) * (_ROW + (lanes - 1) * 9) + (16 if limit is not None else 0)
    return Chart(alt.layer(*layers).properties(width=width, height=height), data)


def _encodings(names: Sequence[str]) -> tuple[Any, Any]:
    """The encodings by colour and shape."""
    import altair as alt

    colours = alt.Scale(**theme.series_range(names, theme.SERIES))
    shapes = alt.Scale(**theme.series_range(names, theme.SHAPES))
    return (
        alt.Color("series:N", sort=list(names), scale=colours, legend=None),
        alt.Shape("series:N", sort=list(names), scale=shapes, legend=None),
    )


def _logarithmic(values: Sequence[float], title: str, limit: float | None) -> dict[str, Any]:
    """A logarithmic scale with round ticks, few enough for a narrow chart, and its axis."""
    import altair as alt

    every = [*values, *([] if limit is None else [limit])]
    low, high = min(every) / 1.6, max(every) * 1.6
    steps = (1, 2, 5) if high / low < 300 else (1,)
    ticks = theme.log_ticks(low, high, steps)
    return {
        "scale": alt.Scale(type="log", domain=[low, high]),
        "axis": alt.Axis(title=title, format=",~r", values=ticks),
    }


def _apart(loads: Sequence[float], width: int) -> list[float]:
    """The loads with labels that do not overlap."""
    pixels = width / (math.log(loads[-1] / loads[0]) + 2 * math.log(1.2))
    kept: list[float] = []
    for load in loads:
        if not kept or math.log(load / kept[-1]) * pixels >= _LABEL_PIXELS:
            kept.append(load)
    return kept

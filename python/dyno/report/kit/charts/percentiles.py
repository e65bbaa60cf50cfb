"""Latency distributions as percentile plots, with the x axis of HdrHistogram: 1/(1-q)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

_TICKS = (2, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
_NAMES = ("50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %")


@dataclass(frozen=True)
class Point:
    """A latency in ms of a series at ``tail`` = 1/(1-q), where q is its quantile."""

    series: str
    tail: float
    latency: float


def percentiles(points: Sequence[Point], upwards: str, width: int) -> Chart:
    """A line for each series, in the order of the palette; both axes are logarithmic.

    Args:
        points: Each series by ascending quantile; latencies above zero.
        upwards: The title of the latency axis, with the unit.
        width: Width of the plot.
    """
    import altair as alt

    names = list(dict.fromkeys(point.series for point in points))
    data = Data()
    end = max(point.tail for point in points)
    ticks = [tick for tick in _TICKS if tick <= end]
    labels = dict(zip(map(str, _TICKS), _NAMES, strict=True))
    x = alt.X(
        "tail:Q",
        scale=alt.Scale(type="log", domain=[1, end], nice=False),
        axis=alt.Axis(
            title="Percentile",
            values=ticks,
            labelExpr=_expression(labels),
            labelOverlap="greedy",
        ),
    )
    low, high = (pick(point.latency for point in points) for pick in (min, max))
    low, high = low / 1.2, high * 1.2
    steps = (1, 2, 5) if high / low < 300 else (1,)
    y = alt.Y(
        "latency:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(title=upwards, format=",~r", values=theme.log_ticks(low, high, steps)),
    )
    colours = alt.Scale(**theme.series_range(names, theme.SERIES))
    dashes = alt.Scale(**theme.series_range(names, theme.DASHES))
    line: Any = alt.Chart(data.named(points)).mark_line(strokeWidth=1.8, aria=False)
    chart = line.encode(
        x=x,
        y=y,
        color=alt.Color("series:N", sort=names, scale=colours, legend=None),
        strokeDash=alt.StrokeDash("series:N", sort=names, scale=dashes, legend=None),
    )
    return Chart(chart.properties(width=width, height=max(200, width // 3)), data)


def _expression(labels: Mapping[str, str]) -> str:
    """A Vega expression that names each tick."""
    pairs = ", ".join(f"'{value}': '{name}'" for value, name in labels.items())
    return f"{{{pairs}}}[datum.value]"

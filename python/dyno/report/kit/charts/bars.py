"""Grouped bar charts: vertical for a few short names, horizontal for many long ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

_THICK, _GAP = 17, 12
_LABELS = 132


@dataclass(frozen=True)
class Bar:
    """A value of a series in a group.

    Attributes:
        label: The text at the end of the bar.
        words: The full description.
    """

    group: str
    series: str
    value: float
    label: str
    words: str


def upright(bars: Sequence[Bar], groups_title: str, values_title: str, width: int) -> Chart:
    """Vertical bars: one per series and group, with the value above."""
    import altair as alt

    names, groups = _names(bars)
    data = Data()
    base = alt.Chart(data.named(bars)).encode(
        x=alt.X("group:N", sort=groups, axis=alt.Axis(title=groups_title, labelAngle=0)),
        xOffset=alt.XOffset("series:N", sort=names),
        y=alt.Y("value:Q", axis=alt.Axis(title=values_title, format=",.0f", tickCount=5)),
    )
    values = base.mark_text(dy=-7, fontSize=theme.FONT_SIZE - 2, aria=False).encode(
        text="label:N", color=alt.value(theme.INK)
    )
    chart = alt.layer(_filled(base, names), values)
    return Chart(chart.properties(width=width, height=270), data)


def lying(bars: Sequence[Bar], values_title: str, width: int) -> Chart:
    """Horizontal bars: one per series and group, with the label at the end."""
    import altair as alt

    names, groups = _names(bars)
    data = Data()
    top = max((bar.value for bar in bars), default=0.0) or 1.0
    longest = max((len(bar.label) for bar in bars), default=0)
    # Labels are placed right of the bars, within the plot.
    space = min(0.6, 6.6 * (longest + 1) / width)
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[0, top / (1 - space)], nice=False),
        axis=alt.Axis(title=values_title, format=",.0f", tickCount=max(2, width // 130)),
    )
    axis = alt.Axis(title=None, labelLimit=150, minExtent=_LABELS, domain=False, ticks=False)
    base = alt.Chart(data.named(bars)).encode(
        y=alt.Y("group:N", sort=groups, axis=axis),
        yOffset=alt.YOffset("series:N", sort=names),
        x=x,
    )
    labels = base.mark_text(align="left", dx=4, fontSize=theme.FONT_SIZE - 1, aria=False).encode(
        text="label:N", color=alt.value(theme.INK)
    )
    chart = alt.layer(_filled(base, names), labels)
    height = len(groups) * (len(names) * _THICK + _GAP)
    return Chart(chart.properties(width=width, height=height), data)


def _names(bars: Sequence[Bar]) -> tuple[list[str], list[str]]:
    series = list(dict.fromkeys(bar.series for bar in bars))
    return series, list(dict.fromkeys(bar.group for bar in bars))


def _filled(base: Any, names: list[str]) -> Any:
    import altair as alt

    colours = alt.Scale(**theme.series_range(names, theme.SERIES))
    return base.mark_bar().encode(
        color=alt.Color("series:N", sort=names, scale=colours, legend=None), description="words:N"
    )

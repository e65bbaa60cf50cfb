"""Transactions: throughput and latency over the number of users, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data


@dataclass(frozen=True)
class Throughput:
    """Transactions per second at a level."""

    level: str
    users: int
    tps: float
    words: str


@dataclass(frozen=True)
class Latency:
    """A percentile of New-Order response time at a level, in ms."""

    level: str
    users: int
    percentile: str
    latency: float
    words: str


def users(
    throughput: Sequence[Throughput], latency: Sequence[Latency], operation: str, width: int
) -> Chart:
    """Two panels over one axis: transactions per second above, response time below."""
    import altair as alt

    data = Data()
    upper = _panel(
        data,
        throughput,
        alt.Y("tps:Q", axis=alt.Axis(title="Transactions/s", format=",.0f", tickCount=5)),
        None,
        last=not latency,
    )
    panels = [upper.properties(width=width, height=max(130, width // 5))]
    if latency:
        values = [item.latency for item in latency]
        low, high = min(values) / 1.6, max(values) * 1.6
        ticks = theme.log_ticks(low, high)
        y = alt.Y(
            "latency:Q",
            scale=alt.Scale(type="log", domain=[low, high]),
            axis=alt.Axis(title=f"{operation} response, ms", format="~g", values=ticks),
        )
        lower = _panel(data, latency, y, "percentile", last=True)
        panels.append(lower.properties(width=width, height=max(150, width // 4)))
    chart = alt.vconcat(*panels, spacing=14)
    return Chart(chart.resolve_scale(color="independent", shape="independent"), data)


def _panel(
    data: Data,
    items: Sequence[Throughput] | Sequence[Latency],
    y: Any,
    series: str | None,
    *,
    last: bool,
) -> Any:
    import altair as alt

    base = alt.Chart(data.named(items)).encode(x=_x(items, last=last), y=y)
    lines = base.mark_line(strokeWidth=1.8, aria=False)
    points = base.mark_point(size=58, filled=True, opacity=1).encode(description="words:N")
    if series is None:
        labels = base.mark_text(dy=-12, fontSize=theme.FONT_SIZE - 1, aria=False).encode(
            text=alt.Text("tps:Q", format=",.0f"), color=alt.value(theme.INK)
        )
        color = alt.value(theme.BLUE)
        return alt.layer(lines.encode(color=color), points.encode(color=color), labels)
    names = list(dict.fromkeys(getattr(item, series) for item in items))
    colours = alt.Scale(**theme.series_range(names, theme.SERIES))
    shapes = alt.Scale(**theme.series_range(names, theme.SHAPES))
    color = alt.Color(f"{series}:N", sort=names, scale=colours, legend=None)
    shape = alt.Shape(f"{series}:N", sort=names, scale=shapes, legend=None)
    return alt.layer(lines.encode(color=color), points.encode(color=color, shape=shape))


def _x(items: Sequence[Throughput] | Sequence[Latency], *, last: bool) -> Any:
    """Users on a logarithmic axis; level names if users do not distinguish the levels."""
    import altair as alt

    counts = sorted({item.users for item in items})
    levels = list(dict.fromkeys(item.level for item in items))
    if len(counts) == len(levels) and counts[0] > 0:
        return alt.X(
            "users:Q",
            scale=alt.Scale(type="log", base=2, domain=[counts[0] / 1.25, counts[-1] * 1.25]),
            axis=alt.Axis(
                title="Users" if last else None,
                values=counts,
                labels=last,
                ticks=last,
                format="d",
                grid=False,
            ),
        )
    return alt.X(
        "level:N",
        sort=levels,
        axis=alt.Axis(
            title="Level" if last else None,
            labels=last,
            ticks=last,
            labelAngle=0,
            # Rate and users are stacked: side by side they overlap on narrow pages.
            labelExpr="split(datum.label, ' over ')",
        ),
    )

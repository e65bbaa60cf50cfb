"""A search for the maximum load within limits: each metric over the load, with its limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

KEPT, BROKEN, INCONCLUSIVE = "pass", "fail", "inconclusive"
_LABEL_PIXELS = 28

MARKS = {
    KEPT: ("circle", theme.BLUE),
    BROKEN: ("square", theme.ORANGE),
    INCONCLUSIVE: ("triangle-up", theme.MUTED),
}
"""Shape and colour of each window verdict."""


@dataclass(frozen=True)
class Point:
    """A window: its load, its value and its verdict.

    Attributes:
        low, high: 95 % interval of the value, if any.
    """

    load: float
    value: float
    verdict: str
    words: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Panel:
    """A metric over the load.

    Attributes:
        limit: Its limit; None if it has none.
        logarithmic: Whether its axis is logarithmic.
    """

    title: str
    points: Sequence[Point]
    limit: float | None = None
    limit_words: str = ""
    logarithmic: bool = False


@dataclass(frozen=True)
class _At:
    """A point of a line, or the position of a text."""

    load: float
    value: float
    text: str = ""


def curve(
    panels: Sequence[Panel], axis_title: str, best: float | None, best_words: str, width: int
) -> Chart:
    """Panels over one logarithmic load axis; a line marks the maximum.

    Args:
        panels: From top to bottom.
        axis_title: The title of the load axis.
        best: The confirmed maximum, if any.
        best_words: The label of its line.
        width: Width of the plot.
    """
    import altair as alt

    data = Data()
    loads = sorted({point.load for panel in panels for point in panel.points})
    parts: list[Any] = []
    for number, panel in enumerate(panels):
        shown = _apart(loads, best, width)
        x = _x(loads, shown, axis_title, last=number == len(panels) - 1)
        words = best_words if number == 0 else ""
        layers = _panel(data, panel, x, best, words, loads)
        title = alt.Title(panel.title, frame="group", anchor="start")
        parts.append(alt.layer(*layers).properties(width=width, height=118, title=title))
    return Chart(alt.vconcat(*parts, spacing=12).resolve_scale(x="shared"), data)


def _panel(
    data: Data, panel: Panel, x: Any, best: float | None, best_words: str, loads: Sequence[float]
) -> list[Any]:
    import altair as alt

    y = _y(panel)
    layers: list[Any] = []
    top = max([point.value for point in panel.points] + [panel.limit or 0.0])
    if panel.limit is not None:
        low, high = loads[0] / 1.25, loads[-1] * 1.25
        ends = data.named([_At(low, panel.limit), _At(high, panel.limit)])
        layers.append(
            alt.Chart(ends)
            .mark_line(strokeWidth=1.4, strokeDash=[6, 3], aria=False)
            .encode(x=x, y=y, color=alt.value(theme.ORANGE))
        )
        text = data.named([_At(low, panel.limit, panel.limit_words)])
        layers.append(
            alt.Chart(text)
            .mark_text(align="left", dx=4, dy=-7, fontSize=theme.FONT_SIZE - 1, aria=False)
            .encode(x=x, y=y, text="text:N", color=alt.value(theme.INK))
        )
    if best is not None:
        mark = alt.Chart(data.named([_At(best, top, best_words)]))
        layers.append(
            mark.mark_rule(strokeWidth=1.2, strokeDash=[2, 2], aria=False).encode(
                x=x, color=alt.value(theme.MUTED)
            )
        )
        if best_words:
            left = best > (loads[0] * loads[-1]) ** 0.5
            size = theme.FONT_SIZE - 1
            texts = (
                mark.mark_text(align="right", baseline="top", dx=-6, fontSize=size, aria=False)
                if left
                else mark.mark_text(align="left", baseline="top", dx=6, fontSize=size, aria=False)
            )
            layers.append(
                texts.encode(x=x, y=alt.value(0), text="text:N", color=alt.value(theme.INK))
            )
    line = alt.Chart(data.named(_means(panel.points)))
    layers.append(
        line.mark_line(strokeWidth=1.2, opacity=0.7, aria=False).encode(
            x=x, y=y, color=alt.value(theme.MUTED)
        )
    )
    spans = [point for point in panel.points if point.low is not None]
    if spans:
        layers.append(
            alt.Chart(data.named(spans))
            .mark_rule(strokeWidth=1.4, opacity=0.7, aria=False)
            .encode(x=x, y=_y(panel, "low:Q"), y2="high:Q", color=alt.value(theme.MUTED))
        )
    for verdict, (shape, colour) in MARKS.items():
        own = [point for point in panel.points if point.verdict == verdict]
        if own:
            layers.append(
                alt.Chart(data.named(own))
                .mark_point(size=62, filled=True, opacity=1)
                .encode(
                    x=x, y=y, description="words:N", shape=alt.value(shape), color=alt.value(colour)
                )
            )
    return layers


def _means(points: Sequence[Point]) -> list[_At]:
    """A line through the windows: the mean at each load."""
    by_load: dict[float, list[float]] = {}
    for point in points:
        by_load.setdefault(point.load, []).append(point.value)
    return [_At(load, sum(own) / len(own)) for load, own in sorted(by_load.items())]


def _x(loads: Sequence[float], shown: Sequence[float], title: str, *, last: bool) -> Any:
    import altair as alt

    return alt.X(
        "load:Q",
        scale=alt.Scale(type="log", base=2, domain=[loads[0] / 1.25, loads[-1] * 1.25]),
        axis=alt.Axis(
            title=title if last else None,
            values=list(shown),
            labels=last,
            ticks=last,
            format="~s" if loads[-1] >= 10_000 else "~r",
            grid=False,
        ),
    )


def _apart(loads: Sequence[float], best: float | None, width: int) -> list[float]:
    """The loads with labels that do not overlap; always includes the maximum."""
    pixels = width / (math.log(loads[-1] / loads[0]) + 2 * math.log(1.25))
    kept: list[float] = []
    first = [best] if best in loads and best is not None else []
    for load in [*first, *loads]:
        if all(abs(math.log(load / other)) * pixels >= _LABEL_PIXELS for other in kept):
            kept.append(load)
    return kept


def _y(panel: Panel, field: str = "value:Q") -> Any:
    import altair as alt

    values = [point.value for point in panel.points]
    values += [point.high for point in panel.points if point.high is not None]
    values += [] if panel.limit is None else [panel.limit]
    positive = [value for value in values if value > 0]
    if panel.logarithmic and len(positive) == len(values):
        low, high = min(values) / 1.5, max(values) * 1.8
        ticks = theme.log_ticks(low, high, (1, 2, 5) if high / low < 60 else (1,))
        return alt.Y(
            field,
            scale=alt.Scale(type="log", domain=[low, high]),
            axis=alt.Axis(title=None, format="~g", values=ticks),
        )
    if max(values) <= 0:  # no errors, on an axis of integers
        scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(title=None, values=[0, 1])
        return alt.Y(field, scale=scale, axis=axis)
    high = max(values) * 1.3
    number = ",~r" if high >= 1 else "~g"
    return alt.Y(
        field,
        scale=alt.Scale(domain=[0, high]),
        axis=alt.Axis(title=None, format=number, tickCount=4),
    )

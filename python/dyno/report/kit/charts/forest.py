"""Forest plot: shifts with their intervals, and the band of irrelevant shifts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dyno.report.kit.blocks import Key
from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

MARKS = {
    "better": ("triangle-up", theme.GREEN),
    "worse": ("triangle-down", theme.ORANGE),
    "different": ("diamond", theme.PURPLE),
    "equivalent": ("square", theme.BLUE),
    "none": ("square", theme.BLUE),
    "inconclusive": ("circle", theme.MUTED),
    "certain": ("diamond", theme.PURPLE),
}
"""Shape and colour of each verdict; its name is also shown."""

_NARROW = 400
_CHARACTER = 7.8
"""Pixels per character in the widest common font; the renderer's font is narrower than that."""
_MOST_LABEL = 290
_FURTHEST = 4.0
"""Intervals are truncated beyond the estimates by this factor."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
_FAR = (-99, -95, -90, -80, -67, -50, -33, -20, 0, 25, 50, 100, 200, 400, 900, 1900, 4900, 9900)


@dataclass(frozen=True)
class Row:
    """A shift in percent.

    Attributes:
        text: The text next to it: the verdict and the shift.
        words: The full description.
    """

    label: str
    percent: float
    low: float
    high: float
    verdict: str
    text: str
    words: str


@dataclass(frozen=True)
class _At:
    place: int
    label: str
    text: str
    ratio: float
    low: float
    high: float
    verdict: str
    words: str


def cut_off(rows: Sequence[Row]) -> bool:
    """Whether an interval extends beyond the chart."""
    return any(_ratio(row.low) < _bounds(rows)[0] or _ratio(row.high) > _bounds(rows)[1]
               for row in rows)  # fmt: skip


def keys(rows: Sequence[Row]) -> tuple[Key, ...]:
    """A legend entry for each verdict that occurs."""
    return tuple(
        Key(verdict, theme.KEYS[shape], theme.VARIABLES[colour])
        for verdict, (shape, colour) in MARKS.items()
        if any(row.verdict == verdict for row in rows)
    )


def forest(rows: Sequence[Row], margin: float, title: str, width: int) -> Chart:
    """A line per row; the x axis is the log ratio, labelled in percent.

    Args:
        rows: From top to bottom.
        margin: Shaded percent on each side of zero; 0 for no band.
        title: The title of the axis.
        width: Total width. On a narrow page, or with long names, the width of the plot, with the
            names above the lines.
    """
    import altair as alt

    narrow = width < _NARROW
    above = narrow or _CHARACTER * max(len(row.label) for row in rows) > _MOST_LABEL
    left, right = (0, 0) if above else _text_widths(rows)
    width -= left + right
    low, high = _bounds(rows, margin)
    shown = [
        _At(place, row.label, row.text, _ratio(row.percent), max(_ratio(row.low), low),
            min(_ratio(row.high), high), row.verdict, row.words)
        for place, row in enumerate(rows)
    ]  # fmt: skip
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    expression = "abs(datum.value-1)<1e-9 ? '0 %' : format(100*(datum.value-1),'+,.3~r')+' %'"
    ticks = _ticks(low, high, 4 if narrow else 8)
    axis = alt.Axis(title=title, values=ticks, labelExpr=expression, grid=True, labelAngle=0)
    data = Data()
    y = alt.Y("place:O", axis=None, scale=alt.Scale(domain=list(range(len(rows))), paddingInner=0))
    layers: list[Any] = []
    if margin > 0:
        band = alt.Chart(data.named([{"low": max(1 - margin / 100, low),
                                      "high": min(1 + margin / 100, high)}]))  # fmt: skip
        layers.append(
            band.mark_rect(color=theme.BLUE, opacity=0.14, aria=False).encode(
                x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"
            )
        )
    zero = alt.Chart(data.named([{"low": 1.0}])).mark_rule(strokeWidth=1.2, aria=False)
    layers.append(
        zero.encode(x=alt.X("low:Q", scale=scale, axis=axis), color=alt.value(theme.MUTED))
    )
    for verdict in dict.fromkeys(row.verdict for row in shown):
        shape, colour = MARKS.get(verdict, MARKS["inconclusive"])
        base = alt.Chart(data.named(asdict(row) for row in shown if row.verdict == verdict))
        layers.append(
            base.mark_rule(strokeWidth=2, aria=False).encode(
                x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", y=y, color=alt.value(colour)
            )
        )
        layers.append(
            base.mark_point(size=74, filled=True, opacity=1).encode(
                x=alt.X("ratio:Q", scale=scale, axis=axis), y=y, shape=alt.value(shape),
                color=alt.value(colour), description="words:N",
            )
        )  # fmt: skip
    layers += _texts(data, shown, y, width, left, right)
    height = len(rows) * (_row_height(rows, width) if above else 27)
    return Chart(alt.layer(*layers).properties(width=width, height=height), data)


def _text_widths(rows: Sequence[Row]) -> tuple[int, int]:
    """Pixels for the names on the left and the texts on the right."""
    left = _CHARACTER * max(len(row.label) for row in rows)
    right = _CHARACTER * max(len(row.text) for row in rows)
    return round(left) + 16, round(right) + 16


def _texts(
    data: Data, shown: Sequence[_At], y: Any, width: int, left: int, right: int
) -> list[Any]:
    """Names and verdicts: next to the plot on a wide page, above and below on a narrow one."""
    import altair as alt

    base = alt.Chart(data.named(asdict(row) for row in shown))
    ink, size = alt.value(theme.INK), theme.FONT_SIZE
    if not left:
        return _above(data, base, shown, y, width)
    names = base.mark_text(align="right", limit=left - 10, fontSize=size, aria=False)
    verdicts = base.mark_text(align="left", fontSize=size, aria=False)
    # Reserves the space: the renderer measures text in its own font.
    space = alt.Chart(data.named([{"place": 0}])).mark_rule(opacity=0, aria=False)
    return [
        space.encode(x=alt.value(-left), x2=alt.value(width + right), y=y),
        names.encode(x=alt.value(-10), y=y, text="label:N", color=ink),
        verdicts.encode(x=alt.value(width + 12), y=y, text="text:N", color=ink),
    ]


def _above(data: Data, base: Any, shown: Sequence[_At], y: Any, width: int) -> list[Any]:
    """Names above their lines with the verdicts on the right, or below if names are long."""
    import altair as alt

    size = theme.FONT_SIZE - 1
    beside = _fit_beside(shown, width)
    verdict_dy, verdict_align = (-13, "right") if beside else (16, "left")
    texts: list[Any] = []
    # They overlap band and grid: a halo keeps the letters legible.
    for halo in ({"stroke": theme.PAGE, "strokeWidth": 4, "strokeJoin": "round"}, {}):
        names = base.mark_text(
            align="left", dy=-13 if beside else -17, limit=width, fontSize=size, aria=False, **halo
        )
        verdicts = base.mark_text(
            align=verdict_align, dy=verdict_dy, limit=width, fontSize=size, aria=False, **halo
        )
        texts += [
            names.encode(x=alt.value(0), y=y, text="label:N", color=alt.value(theme.INK)),
            verdicts.encode(x=alt.value(width if beside else 0), y=y, text="text:N",
                        color=alt.value(theme.MUTED)),
        ]  # fmt: skip
    parts = alt.Chart(data.named({"place": row.place} for row in shown[1:]))
    half = _row_height(shown, width) / 2
    lines = parts.mark_rule(yOffset=-half, strokeWidth=1, aria=False)
    return [
        lines.encode(x=alt.value(0), x2=alt.value(width), y=y, color=alt.value(theme.GRID)),
        *texts,
    ]


def _fit_beside(rows: Sequence[Row] | Sequence[_At], width: int) -> bool:
    return _CHARACTER * max(len(row.label) + len(row.text) + 1 for row in rows) <= width


def _row_height(rows: Sequence[Row] | Sequence[_At], width: int) -> int:
    return 44 if _fit_beside(rows, width) else 60


def _ratio(percent: float) -> float:
    return max(1 + percent / 100, 0.0)


def _bounds(rows: Sequence[Row], margin: float = 0.0) -> tuple[float, float]:
    """Ratios at the ends of the axis: all intervals, unless they are far beyond the estimates."""
    centres = [max(_ratio(row.percent), 1e-3) for row in rows] + [1.0]
    least, most = min(centres) / _FURTHEST, max(centres) * _FURTHEST
    lows = [_ratio(row.low) for row in rows] + [1 - margin / 100]
    highs = [_ratio(row.high) for row in rows] + [1 + margin / 100]
    low, high = max(min(lows + centres), least), min(max(highs + centres), most)
    padding = max(math.log(high / low) * 0.04, 0.0005)
    return low * math.exp(-padding), high * math.exp(padding)


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Ratios of round percentages, including zero."""
    if high / low < 2.2:
        span = 100 * (high - low)
        step = next((one for one in _STEPS if span / one <= most), 50)
        first, last = math.ceil(100 * (low - 1) / step), math.floor(100 * (high - 1) / step)
        return [1 + at * step / 100 for at in range(first, last + 1)]
    inside = [1 + percent / 100 for percent in _FAR if low <= 1 + percent / 100 <= high]
    apart = math.log(high / low) / most
    kept = [1.0]
    for ratio in sorted(inside, key=lambda one: abs(math.log(one))):
        if all(abs(math.log(ratio / other)) >= apart for other in kept):
            kept.append(ratio)
    return sorted(kept)

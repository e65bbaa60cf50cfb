"""The run over time: phases as bands, and CPU and device metrics below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data


@dataclass(frozen=True)
class Lane:
    """A row of phases of one kind, and their colour."""

    name: str
    colour: str


@dataclass(frozen=True)
class Band:
    """A phase: its lane, its bounds in seconds since the start, a short label.

    Attributes:
        strength: Opacity; distinguishes adjacent bands.
    """

    lane: str
    start: float
    end: float
    label: str
    words: str
    strength: float = 0.45


@dataclass(frozen=True)
class Reading:
    """A value of a series at a time."""

    series: str
    second: float
    value: float


@dataclass(frozen=True)
class Panel:
    """One quantity over time. The first series is drawn solid, the others dashed.

    Attributes:
        top: Fixed upper end of the axis, as for %.
    """

    title: str
    readings: Sequence[Reading]
    top: float | None = None


def timeline(
    bands: Sequence[Band], lanes: Sequence[Lane], panels: Sequence[Panel], width: int
) -> Chart:
    """Lanes of named phases above the panels, with common shading and time axis."""
    import altair as alt

    ends = [band.end for band in bands]
    ends += [reading.second for panel in panels for reading in panel.readings]
    domain = [0.0, max(ends, default=1.0)]
    data = Data()
    shades = data.named(bands)
    used = [lane for lane in lanes if any(band.lane == lane.name for band in bands)]
    parts: list[Any] = []
    if used:
        parts.append(_lanes(data, shades, bands, used, domain, width, last=not panels))
    for number, panel in enumerate(panels):
        last = number == len(panels) - 1
        parts.append(_panel(data, panel, shades, used, domain, width, last=last))
    chart = alt.vconcat(*parts, spacing=10)
    apart = chart.resolve_scale(color="independent", strokeDash="independent", x="shared")
    return Chart(apart, data)


def _x(field: str, domain: Sequence[float], *, last: bool) -> Any:
    import altair as alt

    axis = alt.Axis(title="Seconds since the start", grid=False) if last else None
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=list(domain), nice=False), axis=axis)


def _fill(used: Sequence[Lane]) -> Any:
    import altair as alt

    names, colours = [lane.name for lane in used], [lane.colour for lane in used]
    return alt.Color("lane:N", scale=alt.Scale(domain=names, range=colours), legend=None)


def _lanes(
    data: Data,
    shades: Any,
    bands: Sequence[Band],
    used: Sequence[Lane],
    domain: Sequence[float],
    width: int,
    *,
    last: bool,
) -> Any:
    import altair as alt

    y = alt.Y(
        "lane:N",
        sort=[lane.name for lane in used],
        scale=alt.Scale(paddingInner=0.2, paddingOuter=0.1),
        # Space for the longest name in a font wider than the renderer's.
        axis=alt.Axis(title=None, domain=False, ticks=False, labelColor=theme.INK, minExtent=84),
    )
    base = alt.Chart(shades)
    bars = base.mark_bar(cornerRadius=1.5).encode(
        x=_x("start", domain, last=last),
        x2=alt.X2("end:Q"),
        y=y,
        color=_fill(used),
        opacity=alt.Opacity("strength:Q", scale=None),
        description="words:N",
    )
    labels = _labels(bands, domain, width)
    texts = [_texts(data, labels, y, domain, last=last, left=left) for left in (True, False)]
    return alt.layer(bars, *texts).properties(width=width, height=19 * len(used))


@dataclass(frozen=True)
class _Label:
    """A name at a time, to the right (``left`` aligned) or to the left."""

    lane: str
    at: float
    text: str
    left: bool


def _texts(
    data: Data, labels: Sequence[_Label], y: Any, domain: Sequence[float], *, last: bool, left: bool
) -> Any:
    import altair as alt

    base = alt.Chart(data.named(label for label in labels if label.left is left))
    size = theme.FONT_SIZE - 2
    marks = (
        base.mark_text(align="left", dx=4, fontSize=size, aria=False)
        if left
        else base.mark_text(align="right", dx=-4, fontSize=size, aria=False)
    )
    return marks.encode(
        x=_x("at", domain, last=last), y=y, text="text:N", color=alt.value(theme.INK)
    )


def _labels(bands: Sequence[Band], domain: Sequence[float], width: int) -> list[_Label]:
    """Names within their bands, else to the right, else to the left, else none.

    A name must not overlap another band of its lane, that band's name, or the edge.
    """
    labels: list[_Label] = []
    pixels = width / ((domain[1] - domain[0]) or 1.0)
    for lane in dict.fromkeys(band.lane for band in bands):
        free_from = domain[0]
        row = sorted((band for band in bands if band.lane == lane), key=lambda band: band.start)
        for band, following in zip(row, [*row[1:], None], strict=True):
            needed = (6.4 * len(band.label) + 8) / pixels
            free_to = domain[1] if following is None else following.start
            if band.end - band.start >= needed:
                labels.append(_Label(lane, band.start, band.label, left=True))
            elif free_to - band.end >= needed:
                labels.append(_Label(lane, band.end, band.label, left=True))
                free_from = band.end + needed
                continue
            elif band.start - free_from >= needed:
                labels.append(_Label(lane, band.start, band.label, left=False))
            free_from = max(free_from, band.end)
    return labels


def _panel(
    data: Data,
    panel: Panel,
    shades: Any,
    used: Sequence[Lane],
    domain: Sequence[float],
    width: int,
    *,
    last: bool,
) -> Any:
    import altair as alt

    names = list(dict.fromkeys(reading.series for reading in panel.readings))
    y = alt.Y(
        "value:Q",
        scale=alt.Scale() if panel.top is None else alt.Scale(domain=[0, panel.top]),
        axis=alt.Axis(title=None, format=",~r", tickCount=4),
    )
    shading = (
        alt.Chart(shades)
        .mark_rect(opacity=0.13, aria=False)
        .encode(x=_x("start", domain, last=last), x2=alt.X2("end:Q"), color=_fill(used))
    )
    colours = alt.Scale(**theme.series_range(names, (theme.INK, theme.ORANGE, theme.BLUE)))
    dashes = alt.Scale(**theme.series_range(names, theme.DASHES))
    lines = (
        alt.Chart(data.named(panel.readings))
        .mark_line(strokeWidth=1.4, interpolate="linear", clip=True, aria=False)
        .encode(
            x=_x("second", domain, last=last),
            y=y,
            color=alt.Color("series:N", scale=colours, sort=names, legend=None),
            strokeDash=alt.StrokeDash("series:N", sort=names, scale=dashes, legend=None),
        )
    )
    return (
        alt.layer(shading, lines)
        .resolve_scale(color="independent")
        .properties(width=width, height=92, title=panel.title)
    )

"""Heat map of a matrix: each cell shows its value, with a deeper colour for larger values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

_ROW = 34
_LABELS = 125
_PALE, _DEEP = 0.08, 0.55


@dataclass(frozen=True)
class Square:
    """A cell: its position, its value, and both as text."""

    row: str
    column: str
    value: float
    text: str
    words: str


def heat(squares: Sequence[Square], columns_title: str, width: int) -> Chart:
    """Rows and columns in the order of the squares; the colour scale is logarithmic.

    The colour adds no information to the text, so it needs no legend.
    """
    import altair as alt

    rows = list(dict.fromkeys(square.row for square in squares))
    columns = list(dict.fromkeys(square.column for square in squares))
    shades = _shades([square.value for square in squares])
    data = Data()
    # Space for the longest name in a font wider than the renderer's.
    space = max(_LABELS, 7 * max((len(row) for row in rows), default=0))
    labels = alt.Axis(title=None, labelLimit=space, minExtent=space, domain=False, ticks=False)
    cells = [
        {**asdict(square), "shade": shade} for square, shade in zip(squares, shades, strict=True)
    ]
    base = alt.Chart(data.named(cells)).encode(
        x=alt.X(
            "column:N",
            sort=columns,
            axis=alt.Axis(
                title=columns_title, labelAngle=0, orient="top", domain=False, ticks=False
            ),
        ),
        y=alt.Y("row:N", sort=rows, axis=labels),
    )
    rects = base.mark_rect(color=theme.BLUE).encode(
        fillOpacity=alt.FillOpacity("shade:Q", scale=None), description="words:N"
    )
    texts = base.mark_text(fontSize=theme.FONT_SIZE, aria=False).encode(
        text="text:N", color=alt.value(theme.INK)
    )
    return Chart(alt.layer(rects, texts).properties(width=width, height=_ROW * len(rows)), data)


def _shades(values: Sequence[float]) -> list[float]:
    """Opacities by logarithm; transparent without a value, as zero has no logarithm."""
    known = [value for value in values if value > 0]
    if not known:
        return [0.0] * len(values)
    low, span = min(known), math.log(max(known) / min(known)) or 1.0
    return [
        _PALE + (_DEEP - _PALE) * math.log(value / low) / span if value > 0 else 0.0
        for value in values
    ]

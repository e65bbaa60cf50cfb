"""A matrix of figures as a heat map: in each cell the figure, the deeper coloured the larger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dyno.report.charts import theme
from dyno.report.charts.render import Chart, Data

_ROW = 34
_LABELS = 125
_PALE, _DEEP = 0.08, 0.55


@dataclass(frozen=True)
class Square:
    """A cell: its place, its figure, and both in words."""

    row: str
    column: str
    value: float
    text: str
    words: str


def heat(squares: Sequence[Square], columns_title: str, width: int) -> Chart:
    """Rows down and columns across in the order of the squares; the scale of colour is logarithmic.

    The colour adds nothing that the text does not say, so it needs no legend.
    """
    import altair as alt

    rows = list(dict.fromkeys(square.row for square in squares))
    columns = list(dict.fromkeys(square.column for square in squares))
    values = [square.value for square in squares if square.value > 0]
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    data = Data()
    labels = alt.Axis(title=None, labelLimit=150, minExtent=_LABELS, domain=False, ticks=False)
    base = alt.Chart(data.named(squares)).encode(
        x=alt.X(
            "column:N",
            sort=columns,
            axis=alt.Axis(
                title=columns_title, labelAngle=0, orient="top", domain=False, ticks=False
            ),
        ),
        y=alt.Y("row:N", sort=rows, axis=labels),
    )
    shade = alt.Scale(type="log", domain=[low, max(high, low * 1.01)], range=[_PALE, _DEEP])
    cells = base.mark_rect(color=theme.BLUE).encode(
        fillOpacity=alt.FillOpacity("value:Q", scale=shade, legend=None),
        description="words:N",
    )
    texts = base.mark_text(fontSize=theme.FONT_SIZE, aria=False).encode(
        text="text:N", color=alt.value(theme.INK)
    )
    return Chart(alt.layer(cells, texts).properties(width=width, height=_ROW * len(rows)), data)

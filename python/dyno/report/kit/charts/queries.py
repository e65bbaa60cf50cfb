"""Queries: seconds on each target, side by side on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data


@dataclass(frozen=True)
class Bar:
    """A query on a target."""

    query: str
    target: str
    seconds: float
    words: str


def seconds(bars: Sequence[Bar], width: int) -> Chart:
    """Horizontal bars, grouped by query.

    A logarithmic axis has no zero: bars start at the power of ten below the shortest, so only
    their ends are comparable.
    """
    import altair as alt

    names = list(dict.fromkeys(bar.target for bar in bars))
    queries = list(dict.fromkeys(bar.query for bar in bars))
    positive = [bar.seconds for bar in bars if bar.seconds > 0] or [1.0]
    low = 10 ** math.floor(math.log10(min(positive) * 0.999))
    high = max(*positive, low * 10) * 1.1
    data = Data()
    named = data.named({**asdict(bar), "low": low} for bar in bars if bar.seconds > 0)
    chart = (
        alt.Chart(named)
        .mark_bar()
        .encode(
            y=alt.Y(
                "query:N",
                sort=queries,
                axis=alt.Axis(title=None, domain=False, ticks=False),
                scale=alt.Scale(paddingInner=0.28, paddingOuter=0.1),
            ),
            yOffset=alt.YOffset("target:N", sort=names),
            x=alt.X(
                "low:Q",
                scale=alt.Scale(type="log", domain=[low, high], nice=False),
                axis=alt.Axis(
                    title="Seconds (logarithmic)",
                    format="~g",
                    values=theme.log_ticks(low, high, (1, 2, 5) if width > 500 else (1,)),
                    orient="top",
                ),
            ),
            x2=alt.X2("seconds:Q"),
            color=alt.Color(
                "target:N",
                sort=names,
                scale=alt.Scale(**theme.series_range(names, theme.SERIES)),
                legend=None,
            ),
            description="words:N",
        )
    )
    height = len(queries) * (9 * len(names) + 8)
    return Chart(chart.properties(width=width, height=height), data)

"""The runs of a study in order, to show drift; lines join the runs of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.report.kit.blocks import Key
from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Chart, Data

OTHERS = "others"
MOST_TOLD_APART = 36
"""The number of distinct combinations of shape and colour."""

MOST_JOINED = 3
"""With more variants, the lines between the runs of a pair would hide the runs."""

_CROSS = "M-0.7,-0.7L0.7,0.7M-0.7,0.7L0.7,-0.7"
_CROSS_KEY = "M3 1.5L7 5.5L11 1.5L12.5 3L8.5 7L12.5 11L11 12.5L7 8.5L3 12.5L1.5 11L5.5 7L1.5 3z"
_RING_KEY = (
    "M7 1.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11zM7 3.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7z"
)
_STRAIGHT = 4.0


@dataclass(frozen=True)
class Run:
    """A run.

    Attributes:
        order: Its number among all runs, from 1.
        value: None if it lacks the metric.
        counts: Whether the results use it.
        disturbed: Whether it counts although its environment was not quiet.
    """

    order: int
    pair: int
    variant: str
    value: float | None
    counts: bool
    words: str
    disturbed: bool = False


def keys(names: Sequence[str], *, crosses: bool, disturbed: bool = False) -> tuple[Key, ...]:
    """Legend entries for each variant, for disturbed runs and for runs that do not count.

    Args:
        names: The variants, in order.
        crosses: Whether there are runs that do not count.
        disturbed: Whether there are disturbed runs.
    """
    shown = [Key(name, theme.KEYS[shape], theme.VARIABLES[colour])
             for name, (shape, colour) in _looks(names).items()]  # fmt: skip
    hollow = [Key("hollow: disturbed, counts", _RING_KEY, "--ink")] if disturbed else []
    return (*shown, *hollow, *([Key("does not count", _CROSS_KEY, "--ink")] if crosses else []))


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether the values are far enough apart for a logarithmic axis."""
    return min(values, default=0.0) > 0 and max(values) > _STRAIGHT * min(values)


def course(runs: Sequence[Run], names: Sequence[str], title: str, width: int) -> Chart:
    """Run order on the x axis, the metric on the y axis, logarithmic or not starting at zero.

    Args:
        runs: In any order. Runs that do not count are crosses, at the bottom without a value.
        names: The variants, in order.
        title: The metric with its unit.
        width: Width of the plot.
    """
    import altair as alt

    data = Data()
    height = max(210, width // 4)
    last = max(run.order for run in runs)
    x = alt.X(
        "order:Q",
        scale=alt.Scale(domain=[0.4, last + 0.6], nice=False),
        axis=alt.Axis(title="Run, in order", format="d",
                      tickMinStep=1, tickCount=max(4, width // 60), grid=False),
    )  # fmt: skip
    counted = [run for run in runs if run.counts and run.value is not None]
    y = _y([run.value for run in counted if run.value is not None])
    layers: list[Any] = []
    if counted and len(names) <= MOST_JOINED:
        lines = alt.Chart(data.named(counted)).mark_line(strokeWidth=1.1, opacity=0.6, aria=False)
        layers.append(
            lines.encode(x=x, y=y, detail="pair:N", order="order:Q", color=alt.value(theme.MUTED))
        )
    looks = _looks(names)
    for name in looks:
        shape, colour = looks[name]
        own = [
            run for run in counted
            if run.variant == name or (name == OTHERS and run.variant != names[0])
        ]  # fmt: skip
        for hollow in (False, True):
            some = [run for run in own if run.disturbed == hollow]
            if some:
                # Fill is visible without colour.
                marks = alt.Chart(data.named(some)).mark_point(
                    size=62, filled=not hollow, opacity=1, strokeWidth=2
                )
                layers.append(
                    marks.encode(x=x, y=y, description="words:N", shape=alt.value(shape),
                                 color=alt.value(colour))
                )  # fmt: skip
    crosses = [run for run in runs if not run.counts]
    if crosses:
        marks = alt.Chart(data.named(crosses)).mark_point(
            size=90, filled=False, strokeWidth=2, opacity=1, shape=_CROSS
        )
        layers.append(
            marks.encode(x=x, y=alt.value(height - 8), description="words:N",
                         color=alt.value(theme.INK))
        )  # fmt: skip
    named = alt.Title(title, frame="group", anchor="start")
    chart = alt.layer(*layers).properties(width=width, height=height, title=named)
    return Chart(chart, data)


def _looks(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Shape and colour of each variant; with too many, of the first and of all others."""
    if len(names) > MOST_TOLD_APART:
        return {OTHERS: ("circle", theme.MUTED), names[0]: ("diamond", theme.BLUE)}
    count = len(theme.SERIES)
    return {
        name: (theme.SHAPES[(at + at // count) % count], theme.SERIES[at % count])
        for at, name in enumerate(names)
    }


def _y(values: Sequence[float]) -> Any:
    import altair as alt

    if is_logarithmic(values):
        low, high = min(values) / 1.15, max(values) * 1.15
        steps = (1, 2, 5) if high / low < 60 else (1,)
        axis = alt.Axis(title=None, format=",~r", values=theme.log_ticks(low, high, steps))
        return alt.Y("value:Q", scale=alt.Scale(type="log", domain=[low, high]), axis=axis)
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    margin = (high - low) * 0.12 or abs(high) * 0.05 or 1.0
    return alt.Y(
        "value:Q",
        # Leaves space below for runs that do not count.
        scale=alt.Scale(domain=[low - 2 * margin, high + margin], nice=False, zero=False),
        axis=alt.Axis(title=None, format=",~r", tickCount=5),
    )

"""Forest plots of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.report.kit.blocks import Figure
from dyno.report.kit.charts import forest
from dyno.report.kit.charts.render import Size, render
from dyno.report.study.formats import change, labels, named, span
from dyno.studies.outcome import Comparison

_SIZE = Size(1000, 320)


def row(one: Comparison, label: str) -> forest.Row | None:
    """A comparison as a row called ``label``; None if it has no shift."""
    if one.percent is None or one.low is None or one.high is None:
        return None
    cannot = ", disqualified" if one.disqualified else ""
    text = f"{one.verdict}{cannot}  {change(one.percent)}"
    words = (
        f"{label}: {change(one.percent)} (95 % interval {span(one.low, one.high)}), "
        f"{one.verdict}{cannot}"
    )
    return forest.Row(label, one.percent, one.low, one.high, one.verdict, text, words)


def figure(rows: Sequence[forest.Row], margin: float, about: str, notice: str = "") -> Figure:
    """The chart of ``rows``; ``about`` starts its caption."""
    band = f" Shaded: the margin of ±{margin:g}\N{NO-BREAK SPACE}%." if margin else ""
    cut = " Intervals at the edge extend beyond it." if forest.cut_off(rows) else ""
    caption = f"{about}: shift with 95 % interval, on a ratio scale.{band}{cut}"
    return Figure(
        render(
            lambda width: forest.forest(rows, margin, "Shift", width),
            _SIZE,
            f"{caption} " + "; ".join(one.words for one in rows),
        ),
        caption,
        forest.keys(rows),
        notice,
    )


def grouped(compared: Sequence[Comparison]) -> list[tuple[str, list[forest.Row]]]:
    """Groups rows into charts by metric, or by variant if there are more metrics."""
    metrics = list(dict.fromkeys(one.metric for one in compared))
    names = labels(metrics)
    variants = list(dict.fromkeys(one.variant for one in compared))
    made: list[tuple[str, list[forest.Row]]] = []
    if len(metrics) <= max(2, len(variants)):
        for metric in metrics:
            rows = [row(one, one.variant) for one in compared if one.metric == metric]
            made.append((named(metric), [one for one in rows if one is not None]))
    else:
        for variant in variants:
            rows = [row(one, names[one.metric]) for one in compared if one.variant == variant]
            made.append((f"'{variant}'", [one for one in rows if one is not None]))
    return [(about, rows) for about, rows in made if rows]

"""Unsteady: throughput still rose or fell while it was measured."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

WARNING_TREND_PERCENT = 10.0
MOST_TREND_PERCENT = 30.0
MOST_DISCARD_PERCENT = 50.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase, name in case.levels():
        discard = case.value(f"{name}.mser_discard_percent")
        if discard is not None and discard > MOST_DISCARD_PERCENT:
            yield Ruling(
                "invalid",
                f"{phase.title}: throughput never settled, {discard:.0f} % of the window looks "
                "like a warm-up. Give a longer --warmup and --duration.",
                phase.name,
                (f"{name}.mser_discard_percent",),
            )
            continue
        trend = case.figure(f"{name}.trend_percent")
        if trend is None or trend.low is None or trend.high is None:
            continue
        # A slope that may as well be none proves nothing, however steep it looks.
        if trend.low <= 0 <= trend.high or abs(trend.value) <= WARNING_TREND_PERCENT:
            continue
        word = "rose" if trend.value > 0 else "fell"
        yield Ruling(
            "invalid" if abs(trend.value) > MOST_TREND_PERCENT else "warning",
            f"{phase.title}: throughput {word} by {abs(trend.value):.0f} % within the window (95 % "
            f"interval {trend.low:+.0f} to {trend.high:+.0f} %). "
            "Give a longer --warmup and --duration.",
            phase.name,
            (trend.name,),
        )


RULE = Rule(
    code="unsteady",
    weight=Weight.DOUBTFUL,
    definition=(
        "The trend of throughput over the window, if its 95 % interval excludes none, exceeds "
        f"{MOST_TREND_PERCENT:g} % (above {WARNING_TREND_PERCENT:g} %: a warning), or MSER-5 would "
        f"leave out more than {MOST_DISCARD_PERCENT:g} % of it."
    ),
    explanation="The mean of a rise or fall depends on where the window happened to lie.",
    check=_check,
)

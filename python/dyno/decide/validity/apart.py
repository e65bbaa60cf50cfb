"""Apart: databases that were to be measured at once were not measured over the same time."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_APART_PERCENT = 2.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        window_s = case.value(at.seconds)
        if phase.detail.databases is None or not window_s:
            continue
        apart_s = case.value(at.apart_s)
        evidence = (at.apart_s.name,)
        if apart_s is None:
            yield Ruling(
                "invalid",
                f"{phase.title}: in one of the databases no transaction ended in the measured "
                "time, so that the sum is not one of all.",
                phase.name,
                evidence,
            )
        elif apart_s * 100 > window_s * MOST_APART_PERCENT:
            yield Ruling(
                "invalid",
                f"{phase.title}: the databases' measurements began {apart_s:.2f} s apart, "
                f"{100 * apart_s / window_s:.1f} % of the window. Give a longer --duration.",
                phase.name,
                evidence,
            )


RULE = Rule(
    code="apart",
    weight=Weight.DOUBTFUL,
    definition=(
        "Measurements of several databases at once began further apart than "
        f"{MOST_APART_PERCENT:g} % of the window, or one measured nothing."
    ),
    explanation="What was not measured over the same time was not done at once, and does not add.",
    check=_check,
)

"""Workload behind: what the workload itself schedules was done late."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_MS = 1000.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        behind = case.value(at.behind_ms)
        if behind is not None and behind > MOST_MS:
            yield Ruling(
                "invalid",
                f"{phase.title}: work that was due, such as the results of trades, waited up to "
                f"{behind / 1000:.1f} s for a user. Use more --users, or a higher --rate.",
                phase.name,
                (at.behind_ms.name,),
            )


RULE = Rule(
    code="workload-behind",
    weight=Weight.WRONG,
    definition="Work that the workload schedules itself started more than 1 s late.",
    explanation="The stock exchange of brokerage answers within seconds. If its results wait for a "
    "user, their share of the work is too small.",
    check=_check,
)

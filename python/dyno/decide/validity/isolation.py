"""Not isolated: transactions see or lose what others do, and the workload forbids it."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.check_names import ISOLATION
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for check in case.checks:
        if check.passed is False and check.name.startswith(ISOLATION):
            yield Ruling(
                "invalid",
                f"{check.target} does not keep transactions apart ({check.name}): {check.message}. "
                "Check a stronger --level, and set the server's default to it.",
                evidence=(check.name,),
            )


RULE = Rule(
    code="not-isolated",
    weight=Weight.WRONG,
    definition="One of the nine isolation scenarios does not hold at the level that was asked for.",
    explanation="What the workload measures is transactions that may rely on what they read.",
    check=_check,
)

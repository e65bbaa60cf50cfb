"""Inconsistent: the data violates a consistency condition of the workload."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.check_names import ANSWERS, ISOLATION, ORDER
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for check in case.checks:
        if check.passed is False and not check.name.startswith((*ANSWERS, ISOLATION, ORDER)):
            yield Ruling(
                "invalid",
                f"The data in {check.target} fails {check.name}: {check.message}",
                evidence=(check.name,),
            )


RULE = Rule(
    code="inconsistent",
    weight=Weight.WRONG,
    definition="A row count or a consistency condition of the workload fails.",
    explanation="Transactions that lose or duplicate rows are not correct work, however fast.",
    check=_check,
)

"""Not isolated: the isolation level allows anomalies that the workload forbids."""

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
                f"{check.target} violates isolation ({check.name}): {check.message}. "
                "Test a stronger --level, and set it as the server's default.",
                evidence=(check.name,),
            )


RULE = Rule(
    code="not-isolated",
    weight=Weight.WRONG,
    definition="One of the nine isolation tests fails at the requested level.",
    explanation="Weaker isolation is cheaper, and the workload does not allow it.",
    check=_check,
)

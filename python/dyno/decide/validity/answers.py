"""Wrong answers: a query returned wrong results."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.check_names import ANSWERS, ORDER
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

_AGAINST = (
    ("published", " and the published answer"),
    ("answers-expected", " and the expected answer"),
)


def _check(case: Case) -> Iterable[Ruling]:
    for check in case.checks:
        if check.passed is False and check.name.startswith((*ANSWERS, ORDER)):
            if check.name.startswith(ORDER):
                yield Ruling(
                    "invalid",
                    f"{check.name}: rows of {check.target} violate the query's ORDER BY: "
                    f"{check.message}",
                    evidence=(check.name,),
                )
                continue
            against = next((text for name, text in _AGAINST if check.name.startswith(name)), "")
            yield Ruling(
                "invalid",
                f"{check.name}: {check.target}{against} differ: {check.message}",
                evidence=(check.name,),
            )


RULE = Rule(
    code="wrong-answers",
    weight=Weight.WRONG,
    definition=(
        "Two engines return different answers to a query, an engine's answer differs from the "
        "expected one by more than the workload's rounding rules allow, or rows violate ORDER BY."
    ),
    explanation="A query with a wrong result did not do the work that was timed.",
    check=_check,
)

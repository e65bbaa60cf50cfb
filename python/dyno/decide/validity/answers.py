"""Wrong answers: a query returned what it should not."""

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
                    f"{check.name}: rows of {check.target} are not in the order that the query "
                    f"asks for: {check.message}",
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
        "Two engines' answers to a query differ, or an engine's differ from the expected ones, "
        "beyond the workload's rules of rounding; or rows are not in the order asked for."
    ),
    explanation="A query that returns something else is not the query that was to be timed.",
    check=_check,
)

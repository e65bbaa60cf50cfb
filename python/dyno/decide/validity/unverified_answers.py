"""Unverified answers: nothing to compare the queries' answers with."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.check_names import UNPROVEN, compares
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

_ORDER = " Only the data and the order of rows were checked."


def _shipped(message: str) -> bool:
    return message.startswith("skipped: Dyno ships")


def _check(case: Case) -> Iterable[Ruling]:
    proven = {
        (check.workload, target)
        for check in case.checks
        if check.passed is not None and compares(check.name)
        for target in check.target.split(" and ")
    }
    for check in case.checks:
        known = (check.workload, check.target) in proven
        if check.name == UNPROVEN and check.passed is None and not known:
            yield Ruling(
                "warning",
                f"The answers of {check.target} were not verified: "
                f"{check.message.removeprefix('skipped: ')}, and the run has no other engine to "
                f"compare with.{_ORDER if _shipped(check.message) else ''}",
                evidence=(check.name,),
            )


RULE = Rule(
    code="unverified-answers",
    weight=Weight.DOUBTFUL,
    definition=(
        "No expected answers exist for this scale, and the run has no other engine to compare "
        "with. Always a warning."
    ),
    explanation=(
        "A wrong answer can be fast. Also run the engine at a scale with expected answers."
    ),
    check=_check,
)

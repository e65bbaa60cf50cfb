"""Unproven: queries whose answers nothing could be compared with."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.check_names import UNPROVEN, compares
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    proven = {
        target
        for check in case.checks
        if check.passed is not None and compares(check.name)
        for target in check.target.split(" and ")
    }
    for check in case.checks:
        if check.name == UNPROVEN and check.passed is None and check.target not in proven:
            yield Ruling(
                "warning",
                f"Nothing proves the answers of {check.target}: "
                f"{check.message.removeprefix('skipped: ')}, and no other engine was asked. "
                "Only the data and the order of rows were checked.",
                evidence=(check.name,),
            )


RULE = Rule(
    code="unproven",
    weight=Weight.DOUBTFUL,
    definition=(
        "There are no expected answers for the scale of the queries, and no other engine in the "
        "run to compare with. Always a warning."
    ),
    explanation=(
        "A wrong answer can be quick. Run the same engine at a scale with expected answers, too."
    ),
    check=_check,
)

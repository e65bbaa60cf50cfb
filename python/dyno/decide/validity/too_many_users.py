"""Too many users: more users with keying and think times than the scale allows."""

from __future__ import annotations

from collections.abc import Iterable

from dyno import workloads
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    run = case.bundle.run
    for phase, _ in case.levels():
        main = workloads.driven_in(phase.detail.workload, run.workloads)
        users, scale = phase.detail.users, phase.detail.size
        if phase.detail.thinks is not True or users is None or scale is None:
            continue
        message = main.crowd(users, scale)
        if message is not None:
            facts = (f"users {users:g}", f"{main.recorded} {scale:g}")
            yield Ruling("warning", f"{phase.title}: {message}", phase.name, facts)


RULE = Rule(
    code="too-many-users",
    weight=Weight.DOUBTFUL,
    definition="More users with keying and think times than the workload's scale allows.",
    explanation="The specification limits users per scale. More users contend for the same rows.",
    check=_check,
)

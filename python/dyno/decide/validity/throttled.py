"""Throttled: the hypervisor kept processors from this machine."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_STEAL_PERCENT = 5.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases():
        name = f"resource.{phase.name}.cpu.host.steal.mean"
        steal = case.value(name)
        if steal is not None and steal > MOST_STEAL_PERCENT:
            yield Ruling(
                "invalid",
                f"{phase.title}: the hypervisor withheld {steal:.0f} % of the CPU time. Use "
                "dedicated processors, or run again when its other guests are quiet.",
                phase.name,
                (name,),
            )


RULE = Rule(
    code="throttled",
    weight=Weight.DOUBTFUL,
    definition=f"Mean steal time above {MOST_STEAL_PERCENT:g} % in a measured phase.",
    explanation="Work that waits for a processor lent to a neighbour measures the neighbour.",
    check=_check,
)

"""Throttled: the hypervisor kept processors from this machine."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.view import is_sampled
from dyno.model import Phase

MOST_STEAL_PERCENT = 5.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases():
        steal = _steal(case, phase)
        worst = phase
        if steal <= MOST_STEAL_PERCENT:
            # What is lost in the mean of a long profile may be all of one of its curves.
            curves = [one for one in case.curves(phase) if is_sampled(case, one)]
            worst = max(curves, key=lambda one: _steal(case, one), default=phase)
            steal = _steal(case, worst)
        if steal > MOST_STEAL_PERCENT:
            yield Ruling(
                "invalid",
                f"{worst.title}: the hypervisor withheld {steal:.0f} % of the CPU time. Use "
                "dedicated processors, or run again when its other guests are quiet.",
                phase.name,
                (_name(worst),),
            )


def _steal(case: Case, phase: Phase) -> float:
    return case.value(_name(phase)) or 0.0


def _name(phase: Phase) -> str:
    return f"resource.{phase.name}.cpu.host.steal.mean"


RULE = Rule(
    code="throttled",
    weight=Weight.DOUBTFUL,
    definition=(
        f"Mean steal time above {MOST_STEAL_PERCENT:g} % in a measured phase, or in a curve of a "
        "storage profile."
    ),
    explanation="Work that waits for a processor lent to a neighbour measures the neighbour.",
    check=_check,
)

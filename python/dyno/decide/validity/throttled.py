"""Throttled: the hypervisor kept processors from this machine."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.quiet import MOST_STEAL_PERCENT, steal_name
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.view import is_sampled
from dyno.model import Phase


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
                "disturbed",
                f"{worst.title}: CPU steal: {steal:.0f} %. The hypervisor gave that time to "
                "others. Use dedicated CPUs, or run again when its other guests are quiet.",
                phase.name,
                (steal_name(worst),),
            )


def _steal(case: Case, phase: Phase) -> float:
    return case.value(steal_name(phase)) or 0.0


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

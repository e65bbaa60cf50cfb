"""Throttled: the hypervisor gave CPU time of this machine to others."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.decide.case import Case
from dyno.decide.quiet import MOST_STEAL_PERCENT, Noise, noise
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases():
        found = _worst(case, phase)
        if found is not None and (found.steal or 0.0) > MOST_STEAL_PERCENT:
            yield Ruling(
                "disturbed",
                f"{found.phase.title}: CPU steal: {found.steal:.0f} %. The hypervisor gave that "
                "time to others. Use dedicated CPUs, or run again when its other guests are quiet.",
                phase.name,
                found.evidence[-1:],
            )


def _worst(case: Case, phase: Phase) -> Noise | None:
    """CPU steal of a phase, or of its worst curve: it may be lost in the mean of a long profile."""
    whole = noise(case, phase) or _sampled_once(case, phase)
    if (whole.steal or 0.0) > MOST_STEAL_PERCENT:
        return whole
    curves = [found for one in case.curves(phase) if (found := noise(case, one)) is not None]
    return max([whole, *curves], key=lambda one: one.steal or 0.0)


def _sampled_once(case: Case, phase: Phase) -> Noise:
    """By a sample or two, of a bundle without counters."""
    key = metrics.Resources(phase.name).cpu_steal.mean
    return Noise(phase, case.value(key), None, (key.name,))


RULE = Rule(
    code="throttled",
    weight=Weight.DOUBTFUL,
    definition=(
        f"Mean CPU steal above {MOST_STEAL_PERCENT:g} % in a measured phase, or in a curve of a "
        "storage profile. The run is then disturbed, not invalid."
    ),
    explanation="Work that waits for a CPU lent to a neighbour measures the neighbour.",
    check=_check,
)

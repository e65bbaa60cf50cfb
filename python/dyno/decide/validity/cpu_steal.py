"""CPU steal: the hypervisor gave this machine's CPU time to other guests."""

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
                f"{found.phase.title}: CPU steal: {found.steal:.0f} %. Use dedicated CPUs, or run "
                "again when the host is quiet.",
                phase.name,
                found.evidence[-1:],
            )


def _worst(case: Case, phase: Phase) -> Noise | None:
    """CPU steal of a phase, or of its worst curve: the mean of a long profile may hide it."""
    whole = noise(case, phase) or _sampled_once(case, phase)
    if (whole.steal or 0.0) > MOST_STEAL_PERCENT:
        return whole
    curves = [found for one in case.curves(phase) if (found := noise(case, one)) is not None]
    return max([whole, *curves], key=lambda one: one.steal or 0.0)


def _sampled_once(case: Case, phase: Phase) -> Noise:
    """CPU steal from few samples, for a bundle without counters."""
    key = metrics.Resources(phase.name).cpu_steal.mean
    return Noise(phase, case.value(key), None, (key.name,))


RULE = Rule(
    code="cpu-steal",
    weight=Weight.DOUBTFUL,
    definition=(
        f"Mean CPU steal above {MOST_STEAL_PERCENT:g} % in a measured phase or in a curve of a "
        "storage profile. The run is disturbed, not invalid."
    ),
    explanation="The hypervisor gave that CPU time to other guests, and the target waited.",
    check=_check,
)

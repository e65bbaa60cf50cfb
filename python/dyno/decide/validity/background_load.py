"""Background load: other processes used the CPU during a measurement."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import Phase
from dyno.decide.case import Case
from dyno.decide.quiet import MOST_FOREIGN_PERCENT, Noise, noise, takers
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.view import machine_of


def _check(case: Case) -> Iterable[Ruling]:
    # The total of several databases covers the same time as each of them.
    judged = [_worst(case, phase) for phase in case.phases() if phase.part_of is None]
    known = [one for one in judged if one is not None]
    over = [one for one in known if (one.foreign or 0.0) > MOST_FOREIGN_PERCENT]
    if not over:
        return
    worst = max(over, key=lambda one: one.foreign or 0.0)
    by = takers(worst.phase.cpu)
    machine = machine_of(case, worst.phase.target)
    where = f" on {machine}" if machine else ""
    yield Ruling(
        "disturbed",
        f"Background load: other processes used up to {worst.foreign:.0f} % CPU{where} "
        f"({worst.phase.title}{f': {by}' if by else ''}), and over {MOST_FOREIGN_PERCENT:g} % in "
        f"{len(over)} of {len(known)} phases. Stop them{'' if by else ' (see top)'} and run again.",
        worst.phase.name.partition("/")[0],
        tuple(dict.fromkeys(fact for one in over for fact in one.evidence[:1])),
    )


def _worst(case: Case, phase: Phase) -> Noise | None:
    """Background load of a phase, or of its worst curve if only that exceeds the threshold."""
    whole = noise(case, phase)
    if whole is None or (whole.foreign or 0.0) > MOST_FOREIGN_PERCENT:
        return whole
    curves = [found for one in case.curves(phase) if (found := noise(case, one)) is not None]
    return max([whole, *curves], key=lambda one: one.foreign or 0.0)


RULE = Rule(
    code="background-load",
    weight=Weight.DOUBTFUL,
    definition=(
        f"Processes other than the target and Dyno used more than {MOST_FOREIGN_PERCENT:g} % CPU "
        "in a measured phase or in a curve of a storage profile. The run is disturbed, not invalid."
    ),
    explanation="The target only gets the CPU time that other processes leave.",
    check=_check,
)

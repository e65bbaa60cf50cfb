"""Disturbed: other work on the machine took CPU from what was measured."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import Phase
from dyno.decide.case import Case
from dyno.decide.quiet import MOST_FOREIGN_PERCENT, Noise, noise, takers
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    # A sum of several databases has the same time as each of them, and is watched.
    judged = [_worst(case, phase) for phase in case.phases() if phase.part_of is None]
    known = [one for one in judged if one is not None]
    over = [one for one in known if (one.foreign or 0.0) > MOST_FOREIGN_PERCENT]
    if not over:
        return
    worst = max(over, key=lambda one: one.foreign or 0.0)
    by = takers(worst.phase.cpu)
    yield Ruling(
        "disturbed",
        f"Other work took up to {worst.foreign:.0f} % of the CPU time ({worst.phase.title}"
        f"{f': {by}' if by else ''}), and over {MOST_FOREIGN_PERCENT:g} % in {len(over)} of "
        f"{len(known)} phases. Stop it{'' if by else ' (see top)'}, then run again.",
        worst.phase.name.partition("/")[0],
        tuple(dict.fromkeys(fact for one in over for fact in one.evidence[:1])),
    )


def _worst(case: Case, phase: Phase) -> Noise | None:
    """What other work took of a phase, or of its worst curve if only that is beyond the limit."""
    whole = noise(case, phase)
    if whole is None or (whole.foreign or 0.0) > MOST_FOREIGN_PERCENT:
        return whole
    curves = [found for one in case.curves(phase) if (found := noise(case, one)) is not None]
    return max([whole, *curves], key=lambda one: one.foreign or 0.0)


RULE = Rule(
    code="disturbed",
    weight=Weight.DOUBTFUL,
    definition=(
        f"In a measured phase, or a curve of a storage profile, more than {MOST_FOREIGN_PERCENT:g} "
        "% of the CPU time went to neither the target nor Dyno. The run is then disturbed, not "
        "invalid."
    ),
    explanation="A machine shared with other work shows what that work leaves over.",
    check=_check,
)

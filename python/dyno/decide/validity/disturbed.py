"""Disturbed: other work on the machine took processors from what was measured."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.quiet import MOST_FOREIGN_PERCENT
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.view import foreign_percent, is_sampled
from dyno.model import Phase


def _check(case: Case) -> Iterable[Ruling]:
    phases = [phase for phase in case.phases() if _is_watched(case, phase)]
    worst = [_worst(case, phase) for phase in phases]
    over = {part: percent for part, percent in worst if percent > MOST_FOREIGN_PERCENT}
    if not over:
        return
    part = max(over, key=lambda part: over[part])
    title = next(one.title for phase in phases for one in _parts(case, phase) if one.name == part)
    yield Ruling(
        "disturbed",
        f"Other work took up to {over[part]:.0f} % of the processors' time ({title}), and over "
        f"{MOST_FOREIGN_PERCENT:g} % in {len(over)} of {len(phases)} phases. Stop it (see top), "
        "then run again.",
        part.partition("/")[0],
        tuple(f"resource.{name}.cpu.host.busy.mean" for name in over),
    )


def _worst(case: Case, phase: Phase) -> tuple[str, float]:
    """What other work took of a phase, or of its worst curve if only that is beyond the limit."""
    taken = {one.name: foreign_percent(case, one) or 0.0 for one in _parts(case, phase)}
    if taken[phase.name] > MOST_FOREIGN_PERCENT:
        return phase.name, taken[phase.name]
    name = max(taken, key=lambda name: taken[name])
    return name, taken[name]


def _parts(case: Case, phase: Phase) -> list[Phase]:
    return [phase, *(one for one in case.curves(phase) if is_sampled(case, one))]


def _is_watched(case: Case, phase: Phase) -> bool:
    # A sum of several databases has the same time as each of them, and is watched.
    return phase.part_of is None and is_sampled(case, phase)


RULE = Rule(
    code="disturbed",
    weight=Weight.DOUBTFUL,
    definition=(
        f"In a measured phase, or a curve of a storage profile, more than {MOST_FOREIGN_PERCENT:g} "
        "% of the processors' time went to neither the target nor Dyno."
    ),
    explanation="A machine shared with other work shows what that work leaves over.",
    check=_check,
)

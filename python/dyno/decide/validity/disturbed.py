"""Disturbed: other work on the machine took processors from what was measured."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.view import FEWEST_SAMPLES, foreign_percent
from dyno.model import Phase

MOST_FOREIGN_PERCENT = 20.0


def _check(case: Case) -> Iterable[Ruling]:
    phases = [phase for phase in case.phases() if _is_watched(case, phase)]
    taken = {phase.name: foreign_percent(case, phase) or 0.0 for phase in phases}
    over = {name: percent for name, percent in taken.items() if percent > MOST_FOREIGN_PERCENT}
    if not over:
        return
    worst = max(over, key=lambda name: over[name])
    title = next(phase.title for phase in phases if phase.name == worst)
    yield Ruling(
        "invalid",
        f"Other work took up to {over[worst]:.0f} % of the processors' time ({title}), and over "
        f"{MOST_FOREIGN_PERCENT:g} % in {len(over)} of {len(phases)} phases. Stop it (see top), "
        "then run again.",
        worst,
        tuple(f"resource.{name}.cpu.host.busy.mean" for name in over),
    )


def _is_watched(case: Case, phase: Phase) -> bool:
    if phase.part_of is not None:  # the sum has the same time, and is watched
        return False
    return (case.value(f"resource.{phase.name}.samples") or 0) >= FEWEST_SAMPLES


RULE = Rule(
    code="disturbed",
    weight=Weight.DOUBTFUL,
    definition=(
        f"In a measured phase more than {MOST_FOREIGN_PERCENT:g} % of the processors' time went "
        "to neither the target nor Dyno."
    ),
    explanation="A machine shared with other work shows what that work leaves over.",
    check=_check,
)

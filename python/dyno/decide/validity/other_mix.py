"""Other mix: the transactions had other shares than the workload prescribes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from dyno import workloads
from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

Level = Literal["invalid", "warning"]

WARNED, MOST = 0.05, 0.1
"""Distances from the prescribed number of transactions, as shares of it."""
CHANCE = 4.0
"""What chance explains, in square roots of the prescribed number."""


def of_level(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> Ruling | None:
    """The ruling on a level; None if its mix is right, or nothing prescribes one.

    Users draw the mix, so transactions that failed count.
    """
    if phase.detail.is_replay or phase.detail.part_of is not None:
        return None  # a log has its own mix; the total of several databases covers them
    mix = _prescribed(case, phase)
    counts = {name: _drawn(case, at.operation(name)) for name in mix}
    whole, weights = sum(counts.values()), sum(mix.values())
    if not whole or not weights:
        return None
    due = {name: whole * share / weights for name, share in mix.items()}
    levels: dict[str, Level | None] = {name: _level(counts[name], due[name]) for name in mix}
    found: dict[str, Level] = {name: level for name, level in levels.items() if level is not None}
    return _ruling(phase, at, counts, due, found) if found else None


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        ruling = of_level(case, phase, at)
        if ruling is not None:
            yield ruling


def _drawn(case: Case, at: metrics.Operation) -> float:
    return (case.value(at.count) or 0.0) + (case.value(at.errors) or 0.0)


def _prescribed(case: Case, phase: Phase[OltpDetail]) -> Mapping[str, float]:
    """The share of each operation."""
    own = phase.detail.workload
    return workloads.driven([own] if own else case.bundle.run.workloads).mix


def _level(count: float, due: float) -> Level | None:
    apart, chance = abs(count - due), CHANCE * math.sqrt(due)
    if apart > max(MOST * due, chance):
        return "invalid"
    return "warning" if apart > max(WARNED * due, chance) else None


def _ruling(
    phase: Phase[OltpDetail],
    at: metrics.Level,
    counts: Mapping[str, float],
    due: Mapping[str, float],
    found: Mapping[str, Level],
) -> Ruling:
    whole = sum(counts.values())
    words = ", ".join(
        f"{name} {100 * counts[name] / whole:.3g} % instead of {100 * due[name] / whole:.3g} %"
        for name in found
    )
    return Ruling(
        "invalid" if "invalid" in found.values() else "warning",
        f"{phase.title}: the mix differs from the prescribed one: {words}. Use a longer --warmup "
        "or --duration.",
        phase.name,
        tuple(at.operation(name).count.name for name in found),
    )


RULE = Rule(
    code="other-mix",
    weight=Weight.DOUBTFUL,
    definition=(
        f"The number of an operation differs by more than {100 * MOST:g} %, and by more than "
        f"{CHANCE:g} times its square root, from the prescribed number. Warning: by more than "
        f"{100 * WARNED:g} %."
    ),
    explanation="Rates and response times of another mix are those of another workload.",
    check=_check,
)

"""Whether the machine was quiet while a phase was measured."""

from __future__ import annotations

from dyno.decide.case import Case
from dyno.decide.view import foreign_percent, is_sampled
from dyno.model import Phase

MOST_FOREIGN_PERCENT = 20.0
"""CPU that neither the target nor Dyno used, of all CPUs."""

MOST_STEAL_PERCENT = 5.0
"""CPU that the hypervisor gave to others."""


def steal_name(phase: Phase) -> str:
    """Name of the estimate of mean CPU steal in a phase."""
    return f"resource.{phase.name}.cpu.host.steal.mean"


def was_quiet(case: Case, phase: Phase) -> bool:
    """Whether neither CPU steal nor other work was beyond its limit, as far as is known."""
    if not is_sampled(case, phase):
        return True
    steal = case.value(steal_name(phase)) or 0.0
    foreign = foreign_percent(case, phase) or 0.0
    return steal <= MOST_STEAL_PERCENT and foreign <= MOST_FOREIGN_PERCENT

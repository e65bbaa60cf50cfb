"""Whether the machine was quiet while a phase was measured, by samples or else by counters."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.bundle import metrics
from dyno.bundle.model import CpuUse, Phase
from dyno.decide.case import Case
from dyno.decide.view import foreign_percent, is_local, is_sampled, runs_apart
from dyno.safety.text import plain

MOST_FOREIGN_PERCENT = 20.0
"""CPU that neither the target nor Dyno used, of all CPUs."""

MOST_STEAL_PERCENT = 5.0
"""CPU that the hypervisor gave to others."""

FEWEST_TICKS = 50
"""Of CPU time, all CPUs together: one of them is then 2 %."""

_NAMED = 3
_LEAST_NAMED_PERCENT = 1.0


@dataclass(frozen=True)
class Noise:
    """What others took of the CPU time of a phase, in % of all CPUs; None where not known.

    Attributes:
        evidence: Names of estimates, or short facts.
    """

    phase: Phase
    steal: float | None
    foreign: float | None
    evidence: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is beyond its limit, with its size: ``CPU steal: 12 %``."""
        told: list[str] = []
        if (self.steal or 0.0) > MOST_STEAL_PERCENT:
            told.append(f"CPU steal: {self.steal:.0f} %")
        if (self.foreign or 0.0) > MOST_FOREIGN_PERCENT:
            by = takers(self.phase.cpu)
            told.append(f"other work: {self.foreign:.0f} % of the CPU{f' ({by})' if by else ''}")
        return ", ".join(told)

    @property
    def quiet(self) -> bool:
        """Whether neither is beyond its limit, as far as is known."""
        steal, foreign = self.steal or 0.0, self.foreign or 0.0
        return steal <= MOST_STEAL_PERCENT and foreign <= MOST_FOREIGN_PERCENT


def noise(case: Case, phase: Phase) -> Noise | None:
    """What others took of a phase or a curve; None where it was too short to tell."""
    at = metrics.Resources(phase.name)
    if is_sampled(case, phase):
        return Noise(
            phase,
            case.value(at.cpu_steal.mean),
            foreign_percent(case, phase),
            (at.cpu_busy.mean.name, at.cpu_steal.mean.name),
        )
    return None if "/" in phase.name else counted(case, phase)


def counted(case: Case, phase: Phase) -> Noise | None:
    """The same by the counters at the begin and end of a phase."""
    use = phase.cpu
    if use is None or use.ticks < FEWEST_TICKS:
        return None
    known = is_local(case, phase.target) and (use.servers or not runs_apart(case, phase.target))
    foreign = use.percent(max(use.busy_s - use.own_s, 0.0)) if known else None
    facts = tuple(f"{name} = {getattr(use, name):.2f}" for name in ("total_s", "busy_s", "own_s"))
    return Noise(phase, use.percent(use.steal_s), foreign, facts)


def was_quiet(case: Case, phase: Phase) -> bool:
    """Whether nothing beyond the limits is known of others."""
    found = noise(case, phase)
    return found is None or found.quiet


def takers(use: CpuUse | None) -> str:
    """The processes that took the CPU: ``stress 41 %, cc1 8 %``; empty if none is known."""
    if use is None:
        return ""
    shares = {one.name: use.percent(one.cpu_s) for one in use.others[:_NAMED]}
    named = {name: share for name, share in shares.items() if share >= _LEAST_NAMED_PERCENT}
    words = [f"{plain(name)} {share:.0f} %" for name, share in named.items()]
    rest = use.percent(use.busy_s - use.own_s) - sum(use.percent(one.cpu_s) for one in use.others)
    if rest >= _LEAST_NAMED_PERCENT:
        words.append(f"{rest:.0f} % by processes that ended meanwhile or cannot be seen from here")
    return ", ".join(words)

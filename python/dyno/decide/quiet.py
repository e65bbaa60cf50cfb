"""CPU steal and background load of a phase, from samples or else from counters."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.bundle import metrics
from dyno.bundle.model import CpuUse, Phase, Taken
from dyno.decide.case import Case
from dyno.decide.view import (
    foreign_percent,
    has_unseen,
    is_local,
    is_sampled,
    machine_of,
    processors_of,
    resources_of,
    runs_apart,
)
from dyno.safety.text import plain

MOST_FOREIGN_PERCENT = 20.0
"""CPU time used by neither the target nor Dyno, of all CPUs."""

MOST_STEAL_PERCENT = 5.0
"""CPU steal, of all CPUs."""

FEWEST_TICKS = 50
"""CPU time of all CPUs; one tick is then 2 %."""

_NAMED = 3
_LEAST_NAMED_PERCENT = 1.0


@dataclass(frozen=True)
class Noise:
    """CPU steal and background load of a phase, in % of all CPUs; None if unknown.

    Attributes:
        evidence: Names of estimates, or short facts.
    """

    phase: Phase
    steal: float | None
    foreign: float | None
    evidence: tuple[str, ...]

    @property
    def words(self) -> str:
        """Values above their threshold: ``CPU steal: 12 %``."""
        parts: list[str] = []
        if (self.steal or 0.0) > MOST_STEAL_PERCENT:
            parts.append(f"CPU steal: {self.steal:.0f} %")
        if (self.foreign or 0.0) > MOST_FOREIGN_PERCENT:
            by = takers(self.phase.cpu)
            parts.append(f"background load: {self.foreign:.0f} % CPU{f' ({by})' if by else ''}")
        return ", ".join(parts)

    @property
    def quiet(self) -> bool:
        """Whether both are within their thresholds, or unknown."""
        steal, foreign = self.steal or 0.0, self.foreign or 0.0
        return steal <= MOST_STEAL_PERCENT and foreign <= MOST_FOREIGN_PERCENT


def noise(case: Case, phase: Phase) -> Noise | None:
    """CPU steal and background load of a phase or curve; None if it was too short."""
    if is_sampled(case, phase):
        at = resources_of(case, phase)
        # Steal of the driver's machine disturbs as much as that of the server's.
        key = max(
            (at.cpu_steal.mean, metrics.Resources(phase.name).cpu_steal.mean),
            key=lambda one: case.value(one) or 0.0,
        )
        evidence = (at.cpu_busy.mean.name, key.name)
        if machine_of(case, phase.target):  # the counters by owner are of this machine
            phase = phase.model_copy(update={"cpu": _sampled_use(case, phase)})
        return Noise(phase, case.value(key), foreign_percent(case, phase), evidence)
    return None if "/" in phase.name else counted(case, phase)


def _sampled_use(case: Case, phase: Phase) -> CpuUse | None:
    """The mean second of another machine by owner; None if its other processes are unknown."""
    at, foreign = resources_of(case, phase), foreign_percent(case, phase)
    others = at.others(case.known)
    if foreign is None or not others:
        return None
    busy = case.value(at.cpu_busy.mean) or 0.0
    total_s = float(processors_of(case, phase))
    return CpuUse(
        ticks=0,
        steal_s=total_s * (case.value(at.cpu_steal.mean) or 0.0) / 100,
        total_s=total_s,
        busy_s=total_s * busy / 100,
        own_s=total_s * (busy - foreign) / 100,
        servers=True,
        others=tuple(
            Taken(name=name, cpu_s=share / 100)
            for name, share in sorted(others.items(), key=lambda one: -one[1])
        ),
    )


def counted(case: Case, phase: Phase) -> Noise | None:
    """The same, from the counters at the start and end of a phase."""
    use = phase.cpu
    if use is None or use.ticks < FEWEST_TICKS:
        return None
    known = (
        is_local(case, phase.target)
        and not has_unseen(case)
        and (use.servers or not runs_apart(case, phase.target))
    )
    foreign = use.percent(max(use.busy_s - use.own_s, 0.0)) if known else None
    facts = tuple(f"{name} = {getattr(use, name):.2f}" for name in ("total_s", "busy_s", "own_s"))
    return Noise(phase, use.percent(use.steal_s), foreign, facts)


def was_quiet(case: Case, phase: Phase) -> bool:
    """Whether CPU steal and background load were within their thresholds, or unknown."""
    found = noise(case, phase)
    return found is None or found.quiet


def takers(use: CpuUse | None) -> str:
    """The processes that used the CPU: ``stress 41 %, cc1 8 %``; empty if unknown."""
    if use is None:
        return ""
    shares = {one.name: use.percent(one.cpu_s) for one in use.others[:_NAMED]}
    named = {name: share for name, share in shares.items() if share >= _LEAST_NAMED_PERCENT}
    words = [f"{plain(name)} {share:.0f} %" for name, share in named.items()]
    rest = use.percent(use.busy_s - use.own_s) - sum(use.percent(one.cpu_s) for one in use.others)
    if rest >= _LEAST_NAMED_PERCENT:
        words.append(f"{rest:.0f} % by processes that exited or are not visible")
    return ", ".join(words)

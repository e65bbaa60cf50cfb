"""One measured phase as the rules on limits see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dyno.bundle import metrics
from dyno.bundle.metrics.resource import DEVICE_METRICS
from dyno.bundle.model import Phase, Place, tells
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.load import LoadDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.case import Case

FEWEST_SAMPLES = 3
"""Fewer readings than this say nothing of a phase."""


@dataclass(frozen=True)
class Device:
    """Means of a block device over a phase: %, requests, 1/s, MB/s and ms; 0 where unknown."""

    name: str
    utilisation: float = 0.0
    queue_length: float = 0.0
    read_iops: float = 0.0
    write_iops: float = 0.0
    read_mbps: float = 0.0
    write_mbps: float = 0.0
    read_await: float = 0.0
    write_await: float = 0.0


@dataclass(frozen=True)
class View:
    """A measured phase, its figures by the names that the rules use.

    Attributes:
        sessions: Sessions that worked on the target at once.
        processors: Processors of this machine.
        observed: Whether the target runs on this machine and was sampled often enough.
    """

    case: Case
    phase: Phase
    sessions: int
    processors: int
    observed: bool

    @property
    def level(self) -> metrics.Level:
        """Its metrics, if it is a level of load."""
        detail = self.phase.detail
        return metrics.Level(detail.level if isinstance(detail, OltpDetail) else None)

    @property
    def resources(self) -> metrics.Resources:
        """Sampled metrics of the phase."""
        return metrics.Resources(self.phase.name)

    def mean(self, of: metrics.Sampled) -> float | None:
        """Mean of a sampled metric over the phase."""
        return self.case.value(of.mean)

    @property
    def busy(self) -> float | None:
        """Mean share of CPU time in which something ran here, in %."""
        return self.mean(self.resources.cpu_busy)

    @property
    def steal(self) -> float:
        """Mean CPU steal in %: time that was wanted here and given to others."""
        return self.mean(self.resources.cpu_steal) or 0.0

    @property
    def used(self) -> float | None:
        """Mean share of CPU time that was not to be had any more, in %: busy or stolen."""
        return None if self.busy is None else min(self.busy + self.steal, 100.0)

    @property
    def cpus_worked(self) -> float | None:
        """CPUs that the target's own processes used on average, or all work where not known."""
        apart = runs_apart(self.case, self.phase.target)
        own = self.mean(self.resources.process_cpu("server" if apart else "dyno"))
        if own is not None:
            return own / 100
        return None if self.busy is None else self.busy / 100 * self.processors

    @property
    def foreign(self) -> float | None:
        """CPU that was taken by neither the target nor Dyno, in % of all processors' time."""
        return foreign_percent(self.case, self.phase)

    def devices(self) -> list[Device]:
        """Devices that did anything in the phase, the busiest first."""
        of = self.resources
        devices = [
            Device(name, *(self.mean(of.device(name, one)) or 0.0 for one in DEVICE_METRICS))
            for name in of.devices(self.case.known)
        ]
        return sorted(devices, key=lambda device: -device.utilisation)


@dataclass(frozen=True)
class Limit:
    """What may set the pace of a phase.

    Attributes:
        resource: A few words: ``CPU``, ``storage (vda)`` …
        share: How much of the time it did so, 0 to 1; the largest is taken.
        facts: The figures behind it, for a sentence.
        evidence: Names of estimates.
    """

    resource: str
    share: float
    facts: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class LimitRule:
    """One resource. Each lives in a file of its own under ``limits`` as ``RULE``.

    Attributes:
        code: Its name in the bundle.
        definition: When it is named, with the limits.
        explanation: What the sign means, and what would relieve it.
        weigh: The limit, if the phase shows its signs.
    """

    code: str
    definition: str
    explanation: str
    weigh: Callable[[View], Limit | None]


def view(case: Case, phase: Phase) -> View:
    """The view of ``phase``."""
    return View(
        case,
        phase,
        _sessions(phase),
        _processors(case.bundle.run.host),
        is_sampled(case, phase) and is_local(case, phase.target),
    )


def is_sampled(case: Case, phase: Phase) -> bool:
    """Whether there are readings enough to say something of a phase."""
    return (case.value(metrics.Resources(phase.name).samples) or 0) >= FEWEST_SAMPLES


def foreign_percent(case: Case, phase: Phase) -> float | None:
    """CPU taken by neither the target nor Dyno in a phase, in % of all processors' time.

    The kernel's own threads are among it. None if the target's processes were not watched.
    """
    at = metrics.Resources(phase.name)
    busy = case.value(at.cpu_busy.mean)
    dyno = case.value(at.process_cpu("dyno").mean)
    server = case.value(at.process_cpu("server").mean)
    if server is None and _place(case, phase.target) != "process":
        return None
    if busy is None or dyno is None:
        return None
    # Processes are measured in % of one processor.
    own = (dyno + (server or 0.0)) / _processors(case.bundle.run.host)
    return max(0.0, busy - own)


def _sessions(phase: Phase) -> int:
    """Users of a level, streams of a load; queries run one at a time."""
    sessions = None
    if tells(phase, OltpDetail):
        sessions = phase.detail.users
    elif isinstance(phase.detail, LoadDetail | DssDetail):
        sessions = phase.detail.streams
    return max(1, int(sessions or 1))


def _processors(host: dict[str, Any]) -> int:
    cpu = host.get("cpu")
    known = (cpu.get("usable") or cpu.get("logical")) if isinstance(cpu, dict) else None
    return known if isinstance(known, int) and known > 0 else 1


def is_local(case: Case, target: str | None) -> bool:
    """Whether a target shares this machine, so that its host was the one observed."""
    return _place(case, target) != "elsewhere"


def runs_apart(case: Case, target: str | None) -> bool:
    """Whether a target has processes of its own on this machine."""
    return _place(case, target) == "machine"


def _place(case: Case, target: str | None) -> Place:
    """Where a target works; a phase without one is Dyno's own work."""
    if target is None:
        return "process"
    facts = case.bundle.run.targets.get(target)
    return "machine" if facts is None else facts.place  # it did not get as far as to say

"""The view of one measured phase that the bottleneck rules use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from dyno.bundle import carriers, metrics, mixes
from dyno.bundle.carriers import of_target
from dyno.bundle.inside import SOURCE, Inside
from dyno.bundle.metrics.resource import DEVICE_METRICS
from dyno.bundle.metrics.watch import BUSIEST
from dyno.bundle.model import Location, Phase, Role
from dyno.bundle.phases.certify import CertifyDetail
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.load import LoadDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide import processors
from dyno.decide.case import Case
from dyno.decide.waits import LEAST_SHARE, Waits, waits

FEWEST_SAMPLES = 3
"""A phase with fewer samples is not evaluated."""


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
    """A measured phase with the metrics that the rules use.

    Attributes:
        sessions: Concurrent sessions on the target.
        processors: CPUs that the target may use: those of its machine, unless it is confined.
        observed: Whether the target's machine has enough samples.
    """

    case: Case
    phase: Phase
    sessions: int
    processors: int
    observed: bool

    @property
    def level(self) -> metrics.Level:
        """Its metrics, if it is a load level."""
        detail = self.phase.detail
        return metrics.Level(detail.level if isinstance(detail, OltpDetail) else None)

    @property
    def resources(self) -> metrics.Resources:
        """Samples of the target's machine in the phase; of a recording, in its busiest hour."""
        machine = machine_of(self.case, self.phase.target)
        return metrics.Resources(self.phase.name, self._part, machine)

    @property
    def reported(self) -> metrics.Resources:
        """What the database reported in the phase; of a recording, in its busiest hour."""
        return metrics.Resources(self.phase.name, self._part)

    @property
    def _part(self) -> str:
        return BUSIEST if self.phase.kind == "watch" else ""

    def mean(self, of: metrics.Sampled) -> float | None:
        """Mean of a sampled metric over the phase."""
        return self.case.value(of.mean)

    @property
    def busy(self) -> float | None:
        """Mean CPU utilisation of the target's machine, in %."""
        return self.mean(self.resources.cpu_busy)

    @property
    def steal(self) -> float:
        """Mean CPU steal, in %."""
        return self.mean(self.resources.cpu_steal) or 0.0

    @property
    def confined(self) -> bool:
        """Whether the target may use only some CPUs of its machine."""
        return self.processors < processors_of(self.case, self.phase)

    @property
    def used(self) -> float | None:
        """Mean CPU time that was busy or stolen, in %; of a confined target, of its own CPUs."""
        worked = self.cpus_worked if self.confined else None
        if worked is not None:
            return min(100 * worked / self.processors, 100.0)
        return None if self.busy is None else min(self.busy + self.steal, 100.0)

    @property
    def cpus_worked(self) -> float | None:
        """Mean CPUs used by the target's processes; by all processes if unknown.

        None if another target was under load: its processes on the machine are not told apart.
        """
        target = self.phase.target
        if any(one.target != target for one in mixes.beside(self.case.bundle.run, self.phase)):
            return None
        apart = runs_apart(self.case, target) or bool(machine_of(self.case, target))
        own = self.mean(self.resources.process_cpu("server" if apart else "dyno"))
        if own is not None:
            return own / 100
        whole = processors_of(self.case, self.phase)
        return None if self.busy is None else self.busy / 100 * whole

    @property
    def foreign(self) -> float | None:
        """Background load: CPU used by neither the target nor Dyno, in % of all CPUs."""
        if self.phase.kind == "watch" and self.phase.target is None:
            return None  # nothing on the machine is under test
        return foreign_percent(self.case, self.phase)

    def devices(self) -> list[Device]:
        """Active devices of the phase, the busiest first."""
        of = self.resources
        devices = [
            Device(name, *(self.mean(of.device(name, one)) or 0.0 for one in DEVICE_METRICS))
            for name in of.devices(self.case.known)
        ]
        return sorted(devices, key=lambda device: -device.utilisation)

    def carrier(self, role: Role) -> Device | None:
        """The busiest device under the target's files of a role; None if unknown."""
        named = of_target(self.case.bundle.run, self.phase.target).get(role, ())
        return next((device for device in self.devices() if device.name in named), None)

    def roles(self, device: Device) -> list[str]:
        """The roles of a device, data first; empty if unknown."""
        found = of_target(self.case.bundle.run, self.phase.target)
        return [role for role, names in found.items() if device.name in names]

    def inside(self, metric: Inside) -> float | None:
        """Mean of a metric that the database reports."""
        return self.mean(self.reported.sampled(SOURCE, str(self.phase.target), metric))

    @property
    def closed(self) -> bool:
        """Whether each session always has work: no think time and no rate."""
        detail = self.phase.detail
        if not isinstance(detail, OltpDetail):
            return self.phase.kind != "watch"
        return detail.loop is not None and detail.loop.kind == "closed" and not detail.loop.think

    @property
    def needs_cpu(self) -> bool:
        """Whether a busy CPU can limit: sessions run there, or are not in the database.

        A session that waits for a CPU counts as running; outside the database, its driver may wait
        for one. Without always having work, it may also have none.
        """
        waits = self.waits
        return waits is None or not self.closed or waits.share("cpu") + waits.outside >= LEAST_SHARE

    @cached_property
    def waits(self) -> Waits | None:
        """What the active sessions waited for; None if they were not sampled."""
        target, known = self.phase.target, self.case.known
        return waits(known, self.reported, target, self.sessions, closed=self.closed)


@dataclass(frozen=True)
class Limit:
    """A possible bottleneck of a phase.

    Attributes:
        resource: ``CPU``, ``storage (vda)`` …
        share: Its utilisation, or its share of the sessions' time, 0 to 1; the largest wins.
        facts: The metrics behind it.
        evidence: Names of estimates.
        device: The block device that is the resource, if any.
    """

    resource: str
    share: float
    facts: str
    evidence: tuple[str, ...]
    device: str = ""


@dataclass(frozen=True)
class LimitRule:
    """A bottleneck rule for one resource. Each file under ``limits`` defines one as ``RULE``.

    Attributes:
        code: Its name in the bundle.
        definition: The condition, with its thresholds.
        explanation: What it means, and what would help.
        weigh: Returns the bottleneck if the condition holds.
        anywhere: Whether it needs no metrics of the server's machine.
    """

    code: str
    definition: str
    explanation: str
    weigh: Callable[[View], Limit | None]
    anywhere: bool = False


def view(case: Case, phase: Phase) -> View:
    """The view of ``phase``."""
    return View(
        case,
        phase,
        _sessions(case, phase),
        _allowed(case, phase),
        is_sampled(case, phase) and is_watched(case, phase.target),
    )


def is_sampled(case: Case, phase: Phase) -> bool:
    """Whether a phase has enough samples."""
    return (case.value(resources_of(case, phase).samples) or 0) >= FEWEST_SAMPLES


def foreign_percent(case: Case, phase: Phase) -> float | None:
    """CPU used by neither the target nor Dyno in a phase, in % of all CPUs of its machine.

    Dyno is the agent on another machine. Includes kernel threads. None if the processes of the
    target, or of another target on this machine, were not monitored.
    """
    if not machine_of(case, phase.target) and has_unseen(case):
        return None
    at = resources_of(case, phase)
    busy = case.value(at.cpu_busy.mean)
    dyno = case.value(at.process_cpu("dyno").mean)
    server = case.value(at.process_cpu("server").mean)
    if server is None and _place(case, phase.target) != "process":
        return None
    if busy is None or dyno is None:
        return None
    # Process metrics are in % of one CPU.
    own = (dyno + (server or 0.0)) / processors_of(case, phase)
    return max(0.0, busy - own)


def _sessions(case: Case, phase: Phase) -> int:
    """Users of a level, streams of a load or query test; otherwise 1.

    What else is under load on the same target counts too: waits are sampled over all sessions.
    """
    others = sum(
        int(member.users or 0)
        for member in mixes.beside(case.bundle.run, phase)
        if member.target == phase.target
    )
    sessions = None
    if isinstance(phase.detail, OltpDetail | CertifyDetail):
        sessions = phase.detail.users
    elif isinstance(phase.detail, LoadDetail | DssDetail):
        sessions = phase.detail.streams
    return max(1, int(sessions or 1)) + others


def processors_of(case: Case, phase: Phase) -> int:
    """CPUs of the machine that the target of a phase runs on."""
    return processors.counted(case.bundle.run, machine_of(case, phase.target))


def _allowed(case: Case, phase: Phase) -> int:
    """CPUs that the target of a phase may use: a private engine has those of Dyno, or fewer."""
    run = case.bundle.run
    facts = run.targets.get(phase.target or "")
    if facts is None or not facts.url.startswith("embedded:"):
        return processors_of(case, phase)
    return processors.selected(run) or processors.usable(run, "")


def machine_of(case: Case, target: str | None) -> str:
    """The other machine that a target runs on and that was sampled; empty if there is none."""
    return carriers.machine_of(case.bundle.run, target)


def resources_of(case: Case, phase: Phase) -> metrics.Resources:
    """Sampled metrics of a phase, on the machine of its target."""
    return metrics.Resources(phase.name, machine=machine_of(case, phase.target))


def is_watched(case: Case, target: str | None) -> bool:
    """Whether the machine that a target runs on was sampled."""
    return is_local(case, target) or bool(machine_of(case, target))


def is_local(case: Case, target: str | None) -> bool:
    """Whether a target runs on this machine."""
    return _place(case, target) != "elsewhere"


def has_unseen(case: Case) -> bool:
    """Whether a target runs on this machine in unknown processes, which look like others."""
    return any(
        facts.unseen and facts.place == "machine" for facts in case.bundle.run.targets.values()
    )


def runs_apart(case: Case, target: str | None) -> bool:
    """Whether a target has processes of its own on this machine."""
    return _place(case, target) == "machine"


def _place(case: Case, target: str | None) -> Location:
    """Where a target runs; a phase without one runs in Dyno's process."""
    if target is None:
        return "process"
    facts = case.bundle.run.targets.get(target)
    return "machine" if facts is None else facts.place  # the run ended before it was recorded

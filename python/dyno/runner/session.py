"""A recorded run: lock, bundle, sampling, verdict, report and exit code."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno import host, targets
from dyno.accelerate.attach import leftover
from dyno.bundle.model import Applied, Confined, TargetFacts
from dyno.bundle.phases.machine import MachineDetail
from dyno.bundle.phases.provision import ProvisionDetail
from dyno.bundle.writer import Recorder
from dyno.config.settings import Setting, as_record
from dyno.confinement import places
from dyno.confinement.limits_asked import as_record as limits_record
from dyno.confinement.run import Confinement
from dyno.contracts import databases, tuning
from dyno.contracts.layout import Layout
from dyno.contracts.probe import Probed
from dyno.contracts.target import Limits, Target
from dyno.host.limits import usable_memory_bytes
from dyno.plans.fields import Plan
from dyno.runner import accelerated, columns
from dyno.runner.ahead import Part
from dyno.runner.events import Events
from dyno.runner.machines import Machines, machines_of
from dyno.runner.reported import Reported
from dyno.runner.signals import Signals
from dyno.safety.text import plain
from dyno.stages.observe.fill import FillProbe
from dyno.stages.observe.flash import FlashProbe
from dyno.stages.observe.inspected import inspected
from dyno.stages.observe.sampler import Sampler
from dyno.targets import scratch
from dyno.targets.devices import devices, stored
from dyno.workloads import notices
from dyno.workspace import engine_folders
from dyno.workspace.lock import OutLock

if TYPE_CHECKING:
    from dyno.runner.conclude import After, Ended


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Job:
    """The work of a validated plan. Nothing has been changed yet.

    Attributes:
        plan: The options of the user.
        record: The plan for the bundle, without secrets.
        workloads: Workloads with metrics in the report, for the notices.
        volume: Folder that identifies the file system and device to describe.
        body: The work.
        settings: Settings of the targets.
        confinement: Limits of the engine processes, if any.
        before: Creates or rejects prerequisites before recording starts.
        outline: Lines that describe statements or a search.
        question: What the user must agree to before it starts; empty if there is nothing.
        interval_s: Time between two samples of the machine.
        parts: The parts of the work that report progress, as far as they are known.
        cache: The cache on flash in front of the engine's files, if any.
        after: Makes something of the judged bundle, unless the run failed.
    """

    plan: Plan
    record: dict[str, Any]
    workloads: tuple[str, ...]
    volume: Path
    body: Callable[[Session], None]
    settings: Sequence[Setting] = ()
    confinement: Confinement | None = None
    before: Callable[[], None] = _nothing
    outline: tuple[str, ...] = ()
    question: str = ""
    interval_s: float = 1.0
    parts: Sequence[Part] = ()
    cache: accelerated.Wanted | None = None
    after: After | None = None

    @property
    def databases(self) -> list[str]:
        """The databases of its workloads (see :mod:`dyno.contracts.databases`)."""
        count = getattr(self.plan, "databases", 1)
        return [name for workload in self.workloads for name in databases.names(workload, count)]


@dataclass
class Session:
    """Context of a job while its bundle is open.

    Attributes:
        out: Folder of bundles and private engines.
        databases: Those of the workloads of the job.
    """

    out: Path
    events: Events
    recorder: Recorder
    sampler: Sampler
    limits: Limits
    settings: Sequence[Setting] = ()
    confinement: Confinement | None = None
    machines: Machines = field(default_factory=lambda: Machines({}, []))
    cache: accelerated.Wanted | None = None
    databases: Sequence[str] = ()
    _watched: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    @contextlib.contextmanager
    def target(
        self,
        url: str,
        before: Callable[[Target], None] | None = None,
        *,
        settings: Sequence[Setting] | None = None,
        part: str = "",
        name: str = "",
    ) -> Generator[Target]:
        """Starts a target or connects to it, records it, and stops it if the session started it.

        The settings of the run apply from the start and are restored at the end. ``before`` is
        called with the target just before the start. ``settings`` replace those of the run. A run
        that starts a target again names the ``part`` that it is for. ``name`` tells several targets
        of a run apart.

        Raises:
            UsageError: If the URL is invalid or a setting is not possible.
            TargetError: If the target cannot be used.
        """
        parsed = targets.parse(url)
        name = name or parsed.name
        phase = f"provision-{name}{part and f'-{part}'}"
        own = parsed.scheme in {"embedded", "null"}
        title = f"{'Start' if own else 'Connect to'} {name}"
        with contextlib.ExitStack() as stack:
            relations = accelerated.Relations()
            if parsed.scheme == "embedded":
                leftover.detach(engine_folders.home_of(self.out, parsed.name).resolve())
                engine_folders.claim(self.out, parsed.name)
                front = accelerated.in_front(self, parsed, self.cache)
                relations = stack.enter_context(front)
            opened = targets.open_target(parsed, self.out, self.limits)
            opened.name = name
            wanted = self.settings if settings is None else settings
            tuning.tune(opened, wanted, self.databases)
            stack.enter_context(self._restored(opened))
            stack.enter_context(self.confined())
            with (
                self.recorder.phase(phase, title, ProvisionDetail(), name),
                self.events.phase(title),
            ):
                if before is not None:
                    before(opened)
                if self.confinement is not None:
                    self.confinement.charge(opened.data_paths())
                target = stack.enter_context(opened)
                facts = target.facts()
                unseen = facts.place == "machine" and not target.process_ids()
                found = {"tuned": tuning.tuned(target), "unseen": unseen}
                facts = facts.model_copy(update=found)
                facts = self.machines.place(target, facts, self.recorder, self._layout)
                self.recorder.set_target(target.name, facts)
                facts = self._place(target, self._stored(target))
                self.watch(target)
            for line in _settings_lines(facts.tuned):
                self.events.say(line)
            for note in facts.device_notes:
                self.events.say(f"  devices of {target.name}: {plain(note)}")
            try:
                yield target
            finally:
                relations.ask(target)
                del self._watched[target.name]
                self._watch()

    @contextlib.contextmanager
    def confined(self) -> Generator[None]:
        """Applies the limits of the run within the block and records their effect."""
        if self.confinement is None:
            yield
            return
        for line in _limit_lines(self.confinement.effects()):
            self.events.say(line)
        try:
            with self.confinement.within():
                yield
        finally:
            self.recorder.update(confined=self.confinement.effects())

    @contextlib.contextmanager
    def probed(self, target: Target) -> Generator[None]:
        """Adds the probes of the target and inspects it while the block is open."""
        probes = [*(target.probes() if isinstance(target, Probed) else ())]
        places = self._stored(target)
        self._place(target, places)
        if places:
            probes.append(FillProbe(places))
        if caches := places.get("flash"):
            probes.append(FlashProbe(caches))
        with self.sampler.joined(probes), inspected(self.recorder, target):
            yield
        columns.record(self.recorder, target)
        self._place(target, self._stored(target))  # a load creates tablespaces

    def places(self, target: Target) -> dict[str, list[Path]]:
        """Paths of the target's files on this machine, by role."""
        return self._stored(target)

    def _stored(self, target: Target) -> dict[str, list[Path]]:
        """Paths of the target's files by role, with the layout of its data if that is known."""
        backup = self.out if self.recorder.run.plan.get("during") == "backup" else None
        return stored(target, self._layout, backup)

    @property
    def _layout(self) -> Layout | None:
        """The layout of the data of the run, once it is known."""
        layout = self.recorder.run.plan.get("layout")
        known = isinstance(layout, dict) and "workload" in layout
        return Layout.model_validate(layout) if known else None

    def _place(self, target: Target, places: Mapping[str, list[Path]]) -> TargetFacts:
        """Records the devices under the files of a target, if they changed."""
        facts = self.recorder.run.targets[target.name]
        if not facts.machine:
            found = facts.model_copy(update=devices(target, places))
        elif self._layout is None:  # nothing is new
            found = facts
        else:
            found = self.machines.place(target, facts, self.recorder, self._layout)
        if found != facts:
            self.recorder.set_target(target.name, found)
        return found

    def watch(self, target: Target) -> None:
        """Points the probes at the server processes of the target. A restart replaces them."""
        self._watched[target.name] = target.process_ids()
        self._watch()

    def _watch(self) -> None:
        self.sampler.watch([pid for pids in self._watched.values() for pid in pids])

    @contextlib.contextmanager
    def _restored(self, target: Target) -> Generator[None]:
        """Records, after the target is released, whether its settings are restored."""
        try:
            yield
        finally:
            facts = self.recorder.run.targets.get(target.name)
            if facts is not None and facts.tuned:
                left = facts.model_copy(update={"tuned": tuning.tuned(target)})
                self.recorder.set_target(target.name, left)


def run_session(job: Job, events: Events, command: str = "") -> Ended:
    """Runs a job as a recorded run and always finalizes it.

    Args:
        job: The work.
        events: Receives the events.
        command: The command line without secrets. Default: the command line of the plan.

    Raises:
        DynoError: If the run cannot start.
    """
    job.before()
    places.sweep()  # cgroups of killed runs
    confinement, out = job.confinement, job.plan.out
    with (
        confinement or contextlib.nullcontext(),
        OutLock(out),
        Signals() as signals,
        machines_of(job.plan) as machines,
    ):
        scratch.sweep(out)  # files of killed runs, which contain passwords
        asked = {"settings": as_record(job.settings)} if job.settings else {}
        asked |= {} if confinement is None else {"limits": limits_record(confinement.asked)}
        plan = {**job.record, **asked, "command": command or job.plan.command}
        recorder = Recorder(out, job.plan.verb, plan, job.workloads, notices(job.workloads))
        failure: BaseException | None = None
        now_ns = recorder.clock.unix_now_ns
        reported = Reported(events, recorder.path, now_ns, job.parts)
        try:
            try:
                signals.begin_work()
                events.began(recorder.path)
                sampling = Sampler(recorder, interval_s=job.interval_s, warn=reported.warn)
                with sampling as sampler, machines.observed(recorder, sampler):
                    recorder.meter = sampler.meter
                    limits = _machine(recorder, reported, job.volume)
                    if confinement is not None:
                        total = usable_memory_bytes(recorder.run.host)
                        limits = confinement.fitted(limits, total)
                    given = (limits, job.settings, confinement, machines, job.cache, job.databases)
                    job.body(Session(out, reported, recorder, sampler, *given))
            finally:
                signals.end_work()  # signals that arrive earlier are caught below
        except BaseException as error:
            failure = error
        reported.close()
        from dyno.runner.conclude import conclude

        ended = conclude(recorder, failure, job.after)
        events.ended(ended)
    ended.raise_fault()
    return ended


def _machine(recorder: Recorder, events: Events, volume: Path) -> Limits:
    with recorder.phase("machine", "Machine", MachineDetail()):
        facts = host.collect(volume)
        recorder.set_host(facts)
    for finding in host.warnings(facts, recorded=recorder.run.verb == "watch"):
        if finding.level == "warning":
            events.say(f"! {finding.message}")
    return host.limits(facts)


def _settings_lines(applied: Sequence[Applied]) -> list[str]:
    """Formats the applied settings, one line per setting."""
    return [
        f"  {item.word}={item.asked} → {item.name} = {item.found} "
        f"(before: {item.before or 'unset'}; {item.how})"
        for item in applied
    ]


def _limit_lines(confined: Confined) -> list[str]:
    """Formats the active limits as one line."""
    whom = "Dyno with the engine" if confined.where == "process" else "the engine"
    words = " ".join(f"{word}={text}" for word, text in confined.limits.items())
    devices = f", I/O on {', '.join(confined.devices)}" if confined.devices else ""
    return [f"  limits on {whom}: {words}{devices}"]

"""Several workloads or targets at once: a common start, and one end for all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from dyno import workloads
from dyno.bundle.phases.mix import Member, MixDetail
from dyno.bundle.writer import Recorder
from dyno.contracts.databases import workload_of
from dyno.contracts.target import Target
from dyno.errors import DynoError, FaultError, Interrupted
from dyno.runtime.engine_calls import interruptible, run_engine
from dyno.runtime.progress import Progress
from dyno.stages.drive.dss.held import HeldPlan, held, held_name
from dyno.stages.drive.dss.plan import ThroughputPlan
from dyno.stages.drive.dss.throughput import ThroughputResult, throughput, throughput_phase
from dyno.stages.drive.gate import Gate, Start
from dyno.stages.drive.oltp import (
    OltpPlan,
    base_detail,
    ended,
    explained,
    level_phase,
    request,
)
from dyno.stages.drive.scheduler import gives_way

MemberPlan = OltpPlan | HeldPlan | ThroughputPlan


@dataclass(frozen=True)
class MixMember:
    """One workload on one target in a window.

    Attributes:
        name: Its name in the run.
    """

    name: str
    target: Target
    plan: MemberPlan

    @property
    def phase(self) -> str:
        """Name of the phase that records it."""
        if isinstance(self.plan, OltpPlan):
            return level_phase(self.target.name, self.plan)
        if isinstance(self.plan, HeldPlan):
            return held_name(self.target.name, self.plan)
        return throughput_phase(self.target.name, self.plan)

    def detail(self, error: BaseException | None = None) -> Member:
        """Its entry in the bundle."""
        plan, why = self.plan, {} if error is None else {"error": str(error)}
        return Member(
            name=self.name,
            workload=workload_of(plan.workload),
            target=self.target.name,
            phase=self.phase,
            level=plan.level if isinstance(plan, OltpPlan) else None,
            users=plan.users if isinstance(plan, OltpPlan) else plan.total,
            **why,
        )


@dataclass(frozen=True)
class MixPlan:
    """A window.

    Attributes:
        name: Its name in the run.
        title: Its title.
        members: What runs at the same time.
        alone: Whether the window measures its only member by itself.
        round: Number of the repetition.
        warmup_s, duration_s: Time before and in the measured time; None for query tests that run to
            completion.
    """

    name: str
    title: str
    members: tuple[MixMember, ...]
    alone: bool = False
    round: int = 1
    warmup_s: float | None = None
    duration_s: float | None = None


@dataclass
class Mixed:
    """What became of the members.

    Attributes:
        failed: Why members ended early, by name. Members that were stopped for another one have the
            error of that one.
        answers: Answers of the throughput tests, by name.
    """

    failed: dict[str, DynoError] = field(default_factory=dict[str, DynoError])
    answers: dict[str, ThroughputResult] = field(default_factory=dict[str, ThroughputResult])


def mixed(recorder: Recorder, plan: MixPlan, progress: Progress) -> Mixed:
    """Runs all members at once, each recorded as if it ran alone.

    All sessions of all members are open before the first statement. Streams repeat their queries
    until all transactions are over. A member that fails stops the members of the same target,
    because the rest would not be the mix; those of other targets go on to their end.

    Raises:
        Interrupted: After Ctrl-C. All members are stopped.
        FaultError: If a member fails by a bug.
    """
    asked = partial(
        MixDetail,
        name=plan.name,
        alone=plan.members[0].name if plan.alone else None,
        round=plan.round,
        warmup_s=plan.warmup_s,
        duration_s=plan.duration_s,
    )
    work = _Work(recorder, plan.members, progress)
    names = [one.detail() for one in plan.members]
    with recorder.phase(f"mix-{plan.name}", plan.title, asked(members=tuple(names))) as phase:
        try:
            work.run()
        finally:
            errors = work.found.failed
            phase.detail = asked(
                members=tuple(one.detail(errors.get(one.name)) for one in plan.members)
            )
    return work.found


class _Work:
    """The threads of the members."""

    def __init__(
        self, recorder: Recorder, members: Sequence[MixMember], progress: Progress
    ) -> None:
        gate = Gate(len(members))
        self._recorder, self._members = recorder, members
        self._starts = {one.name: Start(gate) for one in members}
        self._driven = [one for one in members if isinstance(one.plan, OltpPlan)]
        self._driving = len(self._driven)
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._progress = _Least(progress, len(members))
        self._fault: BaseException | None = None
        self.found = Mixed()

    def run(self) -> None:
        """Runs all members to their end."""
        interruptible(self._run, self._cancel)
        if self._fault is not None:
            raise self._fault

    def _run(self) -> None:
        threads = [
            threading.Thread(
                target=self._guarded, args=(one,), daemon=True, name=f"dyno-mix-{one.name}"
            )
            for one in self._members
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _cancel(self) -> None:
        # At once: a server that does not respond holds up the cancellation of its own work only.
        for start in self._starts.values():
            threading.Thread(target=start.cancel, daemon=True, name="dyno-cancel").start()

    def _guarded(self, member: MixMember) -> None:
        """Runs a member and notes why it failed."""
        start = self._starts[member.name]
        try:
            self._work(member, start)()
        except DynoError as error:
            if isinstance(error, FaultError):
                self._fail(error)
            self._stop_target(member, error)
        except BaseException as error:
            self._fail(error)
        finally:
            start.ended()
            self._progress.leave(member.name)
            if isinstance(member.plan, OltpPlan):
                with self._lock:
                    self._driving -= 1
                    if not self._driving:
                        self._over.set()

    def _fail(self, error: BaseException) -> None:
        self._fault = self._fault or error
        self._cancel()

    def _stop_target(self, member: MixMember, error: DynoError) -> None:
        """Stops the members of the same target. They failed for the reason of this one."""
        with self._lock:
            known = self.found.failed.get(member.name)
            if known is None or not isinstance(error, Interrupted):
                self.found.failed[member.name] = error
            if isinstance(error, Interrupted):
                return
            others = [
                one
                for one in self._members
                if one.target is member.target and one.name not in self.found.failed
            ]
            for one in others:
                self.found.failed[one.name] = error
        for one in others:
            self._starts[one.name].cancel()

    def _work(self, member: MixMember, start: Start) -> Callable[[], None]:
        plan, progress = member.plan, self._progress.part(member.name)
        common = (self._recorder, member.target)
        if isinstance(plan, OltpPlan):
            sharing = len(self._driven), self._driven.index(member)
            return partial(_drive, *common, plan, progress, start, sharing)
        if isinstance(plan, HeldPlan):
            over = self._over if self._driven else None
            return partial(held, *common, plan, progress, start, over)

        def to_completion() -> None:
            self.found.answers[member.name] = throughput(*common, plan, progress, start)

        return to_completion


def _drive(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    progress: Progress,
    start: Start,
    sharing: tuple[int, int],
) -> None:
    """Runs a level, one of several drivers on this machine."""
    # The label names the target, as the level of each has its own name; the title has it already.
    label = plan.label.removeprefix(target.name).removeprefix("-")
    load = replace(plan, label=label).title
    title = f"{workloads.get(plan.workload).title} on {target.name}, {load}"
    asked = base_detail(plan)
    drivers, turn = sharing
    name = level_phase(target.name, plan)
    with recorder.phase(name, title, asked(), target.name) as phase, explained(target):
        wanted = {**request(recorder, target, plan), "drivers": drivers, "turn": turn}
        start.check()
        outcome = run_engine("drive", wanted, progress, start.beside, gives_way(target), held=True)
        phase.detail = ended(asked, plan.level, outcome, None)


class _Least:
    """The progress of the slowest member as that of all."""

    def __init__(self, progress: Progress, count: int) -> None:
        self._progress, self._count = progress, count
        self._shares: dict[str, float] = {}
        self._lock = threading.Lock()

    def part(self, name: str) -> _Part:
        """The progress of one member."""
        return _Part(self, name)

    def leave(self, name: str) -> None:
        """Goes on without a member, which has ended."""
        with self._lock:
            self._count -= 1
            self._shares.pop(name, None)

    def update(self, name: str, share: float, text: str) -> None:
        """Reports the progress of a member."""
        with self._lock:
            self._shares[name] = share
            every = len(self._shares) == self._count
            least = min(self._shares.values()) if every else 0.0
        self._progress.update(1000 * least, 1000, f"{name}: {text}")


@dataclass(frozen=True)
class _Part:
    _all: _Least
    _name: str

    def update(self, done: float, total: float, text: str = "") -> None:
        """Passes the progress on."""
        self._all.update(self._name, done / total if total > 0 else 0.0, text)

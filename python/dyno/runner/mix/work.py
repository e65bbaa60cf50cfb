"""Runs several workloads or targets at once: opens the targets, runs the windows, then verifies."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from dyno.config.rates import Rate
from dyno.config.settings import Setting
from dyno.contracts.target import Loaded, Target
from dyno.contracts.workload import Workload
from dyno.errors import DynoError, Interrupted, TargetError, UsageError
from dyno.plans.run import RunPlan
from dyno.runner.mix.members import Place
from dyno.runner.mix.windows import Window

if TYPE_CHECKING:
    from dyno.runner.session import Session
    from dyno.stages.drive import HeldPlan, Mixed, MixMember, OltpPlan, ThroughputPlan

T = TypeVar("T")


@dataclass(frozen=True)
class Settled:
    """A member whose part of the plan passed all checks.

    Attributes:
        name: Its name in the run.
        label: Tells its levels apart from others with the same load.
        settings: Its part of the plan, as a run of its own records it.
        scale: The required scale; None for any.
        alone: Whether the run also measures it by itself.
    """

    name: str
    workload: Workload
    place: Place
    label: str
    asked: RunPlan
    settings: dict[str, Any]
    scale: float | None
    rate: Rate | None
    alone: bool = False

    @property
    def drives(self) -> bool:
        """Whether it has transactions."""
        return self.workload.kind == "oltp"

    @property
    def users(self) -> int | None:
        """Users or streams; None for the streams of the scale."""
        return self.settings["users"][0] if self.drives else self.asked.streams

    @property
    def warmup_s(self) -> float:
        """Time before the measured time."""
        return self.settings["warmup_s"]

    @property
    def duration_s(self) -> float:
        """Measured time."""
        return self.settings["duration_s"]

    def streams_at(self, scale: float) -> int:
        """Query streams on data of this scale."""
        return self.asked.streams or self.workload.streams(scale)

    @property
    def words(self) -> str:
        """``8 users, 200/s``."""
        if not self.drives:
            count = self.asked.streams
            found = "streams by scale" if count is None else f"{count} stream{'s'[: count != 1]}"
        else:
            found = f"{self.users} user{'s'[: self.users != 1]}"
            found += "" if self.rate is None else f", {self.rate.title}"
        scale = "" if self.scale is None else f", scale {self.scale:.15g}"
        return f"{self.workload.title}, {found}{scale}, on {self.place.url.redacted}"

    def level(self, held: Loaded, window: Window) -> OltpPlan:
        """Its transactions in a window."""
        from dyno.runtime.seeds import in_series
        from dyno.stages.drive import OltpPlan

        of = self.settings
        label = "-".join(filter(None, [self.label, "alone" if window.alone else ""]))
        place = 2 * (window.round - 1) + window.alone
        return OltpPlan(
            self.workload.name,
            held,
            of["users"][0],
            of["warmup_s"],
            of["duration_s"],
            in_series(of["seed"], self.workload.name, place, "window"),
            rate_per_s=self.rate,
            poisson=of["arrivals"] == "poisson",
            think=of["think"],
            home=of["home"],
            mode=of["mode"],
            reconnect_s=of["reconnect_s"],
            window=window.round,
            label=label,
        )

    def streams(self, held: Loaded, window: Window, times: tuple[float, float]) -> HeldPlan:
        """Its queries in a window, with these seconds of warm-up and of measured time."""
        from dyno.stages.drive import HeldPlan

        words = ["alone"] if window.alone else []
        words += [f"round {window.round}"] if window.round > 1 else []
        return HeldPlan(
            self.workload.name,
            held.scale,
            **self._queries,
            streams=self.streams_at(held.scale),
            warmup_s=times[0],
            duration_s=times[1],
            label=", ".join(words),
        )

    def test(self, held: Loaded, *, refresh: bool, first_set: int) -> ThroughputPlan:
        """Its throughput test."""
        from dyno.stages.drive import ThroughputPlan

        return ThroughputPlan(
            self.workload.name,
            held.scale,
            **self._queries,
            refresh=refresh,
            first_set=first_set,
            metering=self.settings["metering"],
            streams=self.streams_at(held.scale),
        )

    @property
    def _queries(self) -> dict[str, Any]:
        return {
            "timeout_s": self.settings["timeout_s"],
            "parameters": self.asked.drawn,
            "seed": self.settings["seed"],
            "cache": "first",
        }


def work(
    session: Session,
    settled: Sequence[Settled],
    order: Sequence[Window],
    tuned: Mapping[str, Sequence[Setting]],
    times: tuple[float | None, float | None],
) -> None:
    """Runs the windows, then verifies the data and the answers of the targets that are left.

    Args:
        session: The open session.
        settled: The members.
        order: The windows.
        tuned: Settings by target.
        times: Seconds of warm-up and of measured time; None for query tests to completion.

    Raises:
        UsageError: If data is missing, or its scale differs.
        TargetError: If a target was lost. The members on other targets have run to their end.
    """
    with contextlib.ExitStack() as stack:
        targets = {one.place.name: one.place for one in settled}
        opened = {
            name: stack.enter_context(
                session.target(place.url.text, settings=tuned[name], name=name)
            )
            for name, place in targets.items()
        }
        ready = [_Ready.of(session, one, opened[one.place.name]) for one in settled]
        _require_one_scale(ready)
        _note_layout(session, ready)
        warmup_s, duration_s = times
        if warmup_s is None or duration_s is None:
            failed = _tests(session, ready, order[0])
        else:
            failed = _windows(session, ready, order, (warmup_s, duration_s))
        lost = {one.target.name for one in ready if one.name in failed}
        _verify(session, [one for one in ready if one.target.name not in lost])
        if failed:
            raise _error(ready, failed, several=len(opened) > 1)


@dataclass(frozen=True)
class _Ready:
    """A member with its open target and its data."""

    settled: Settled
    target: Target
    held: Loaded

    @property
    def name(self) -> str:
        return self.settled.name

    @classmethod
    def of(cls, session: Session, settled: Settled, target: Target) -> _Ready:
        """Finds the data, and restores or creates what the work needs."""
        from dyno.runner import guests, stages
        from dyno.runner.dss import clear

        workload = settled.workload
        guests.add(session, target, workload.name, 1)
        held = stages.loaded_data(target, workload.name, settled.scale)
        if settled.drives:
            _warn_of_crowd(session, settled, held)
            if settled.settings["mode"] == "procedure":
                from dyno.stages import drive

                with session.events.phase(f"Procedures in {target.name}"):
                    drive.program(session.recorder, target, workload.name)
        else:
            clear(session, target, workload.name)
            stages.prepare(target, workload.name)
        return cls(settled, target, held)


def _queried(ready: Sequence[_Ready]) -> list[list[_Ready]]:
    """The members with queries, by workload."""
    found: dict[str, list[_Ready]] = {}
    for one in ready:
        if not one.settled.drives:
            found.setdefault(one.settled.workload.name, []).append(one)
    return list(found.values())


def _require_one_scale(ready: Sequence[_Ready]) -> None:
    """Refuses data of different scales on several targets: their queries would not add up.

    Raises:
        UsageError: With the targets.
    """
    for queried in _queried(ready):
        scales = {one.held.scale: f"{one.held.scale:.15g} in {one.target.name}" for one in queried}
        if len(scales) > 1:
            raise UsageError(
                f"{queried[0].settled.workload.called} has scale {' and '.join(scales.values())}. "
                "Load the same scale into every target."
            )


def _verify(session: Session, ready: Sequence[_Ready]) -> None:
    """Checks the data after transactions, and the answers of queries."""
    from dyno.runner import stages
    from dyno.runner.dss import ask

    for one in ready:
        workload = one.settled.workload
        if one.settled.drives:
            plan = one.settled.level(one.held, Window((one.name,)))
            stages.consistency(session, one.target, plan)
        elif workload.verifies:
            stages.consistent(session, one.target, workload.name, one.held)
    for queried in _queried(ready):
        first = queried[0]
        plan = first.settled.test(first.held, refresh=False, first_set=0)
        ask(session, [(one.target, one.held) for one in queried], plan)


def _warn_of_crowd(session: Session, settled: Settled, held: Loaded) -> None:
    of = settled.settings
    if of["think"]:
        crowded = settled.workload.transactions.crowd(max(of["users"]), held.scale)
        if crowded is not None:
            session.events.warn(crowded)


def _note_layout(session: Session, ready: Sequence[_Ready]) -> None:
    """Records the layout of the data; the record of a run has one."""
    from dyno.runner.layout import note_layout

    laid = [one for one in ready if one.held.layout]
    if len(laid) == 1:
        note_layout(session, laid[0].target, laid[0].held)


def _windows(
    session: Session,
    ready: Sequence[_Ready],
    order: Sequence[Window],
    times: tuple[float, float],
) -> dict[str, DynoError]:
    """Runs windows until one fails; returns why members failed."""
    from dyno.stages.drive import MixMember

    for window in order:
        every = [
            MixMember(
                one.name,
                one.target,
                one.settled.level(one.held, window)
                if one.settled.drives
                else one.settled.streams(one.held, window, times),
            )
            for one in ready
            if one.name in window.members
        ]
        found = _mixed(session, window, every, times)
        if found.failed:
            return found.failed
    return {}


def _tests(session: Session, ready: Sequence[_Ready], window: Window) -> dict[str, DynoError]:
    """Runs a throughput test on every target at once; returns why some failed."""
    from dyno.stages import drive, prove
    from dyno.stages.drive import MixMember, ThroughputPlan

    lost: dict[str, DynoError] = {}
    with contextlib.ExitStack() as stack:
        every: list[MixMember] = []
        for one in ready:
            refresh = one.settled.asked.refreshes and one.target.capabilities.refresh is True
            if refresh is not one.settled.asked.refreshes:
                session.events.say(
                    f"! Without refresh functions: {one.target.capabilities.refresh}."
                )
            first = 0
            if refresh:
                name, count = one.settled.workload.name, one.settled.streams_at(one.held.scale)
                restoring = drive.restored(session.recorder, one.target, name, count)
                kept = _unless_lost(restoring, partial(lost.get, one.name))
                first = stack.enter_context(kept) - 1  # a throughput test begins with pair 1
            test = one.settled.test(one.held, refresh=refresh, first_set=first)
            every.append(MixMember(one.name, one.target, test))
        found = _mixed(session, window, every, (None, None))
        lost.update(found.failed)
    for member in every:
        result, plan = found.answers.get(member.name), member.plan
        if result is not None and isinstance(plan, ThroughputPlan):
            alike = plan.parameters == "validation" and not plan.refresh
            recorder, name = session.recorder, member.target.name
            prove.streams(recorder, plan.workload, name, result.answers, alike=alike)
    return found.failed


@contextlib.contextmanager
def _unless_lost(
    work: contextlib.AbstractContextManager[T], lost: Callable[[], DynoError | None]
) -> Generator[T]:
    """Ends work on a target as failed if the target was lost meanwhile, without raising that."""
    of_others = False
    try:
        with work as value:
            try:
                yield value
            except BaseException:
                of_others = True
                raise
            error = lost()
            if error is not None:
                raise error
    except DynoError:
        if of_others or lost() is None:
            raise


def _mixed(
    session: Session,
    window: Window,
    members: Sequence[MixMember],
    times: tuple[float | None, float | None],
) -> Mixed:
    from dyno.stages import drive
    from dyno.stages.drive import MixPlan

    warmup_s, duration_s = times
    plan = MixPlan(
        window.name, window.title, tuple(members), window.alone, window.round, warmup_s, duration_s
    )
    lost: dict[str, DynoError] = {}

    def why(target: str) -> DynoError | None:
        return next((lost[one.name] for one in members if one.target.name == target
                     and one.name in lost), None)  # fmt: skip

    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(session.events.phase(window.title))
        for name, target in {one.target.name: one.target for one in members}.items():
            stack.enter_context(_unless_lost(session.probed(target), partial(why, name)))
        found = drive.mixed(session.recorder, plan, progress)
        lost.update(found.failed)
    return found


def _error(ready: Sequence[_Ready], failed: Mapping[str, DynoError], *, several: bool) -> DynoError:
    """The first failure, with the name of its target if there are several."""
    first = next(one for one in ready if one.name in failed)
    error = failed[first.name]
    if not several or isinstance(error, Interrupted):
        return error
    left = [one.name for one in ready if one.name not in failed]
    rest = f" The rest ran to the end: {', '.join(left)}." if left else ""
    text = str(error).rstrip(".")
    return TargetError(f"{first.target.name}: {text}.{rest}", kind=error.kind)

"""Transactions at one level of load: N users, or a rate, for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dyno import workloads
from dyno.bundle.phases.oltp import Loop, OltpDetail, Outcome, UntilSteady
from dyno.bundle.phases.provision import ProvisionDetail
from dyno.bundle.writer import Recorder
from dyno.config.rates import Rate
from dyno.contracts.databases import workload_of
from dyno.contracts.target import Limited, Loaded, Programmable, Supervised, Target
from dyno.contracts.transactions import Work
from dyno.errors import TargetError
from dyno.runtime.engine_calls import Beside, run_engine
from dyno.runtime.progress import Progress
from dyno.stages.drive.scheduler import gives_way

After = Callable[[str, dict[str, Any]], UntilSteady]

_INTERVALS = 60
_SHORTEST_S = 0.01


@dataclass(frozen=True)
class OltpPlan:
    """One level of load.

    Attributes:
        users: Sessions at once.
        rate_per_s: Transactions a second of an open loop, a number or a rate that changes; None
            closes the loop.
        poisson: Whether the open loop's arrivals are random rather than evenly spaced.
        think: Whether users type and think as the workload prescribes (closed loop only).
        interval_s: Length of the intervals that are recorded; short windows need short ones to be
            judged steady.
        window: Which window at this load, where a search measures one again.
        mode: Where transactions are programmed: ``client`` or ``procedure``.
        reconnect_s: How long a user tries to get a lost connection back.
        home: Which part of the data, such as a warehouse, a user works on: the same one
            (``fixed``), one drawn each time (``random``), or each in turn (``all``).
        several: What each of several databases holds that are driven at once; empty for one alone.
            ``users`` are then those of each, and a rate is that of all together.
        database: Which of several that are driven at once; None for one alone. ``workload`` is
            then the name of that database.
    """

    workload: str
    loaded: Loaded
    users: int
    warmup_s: float
    duration_s: float
    seed: int
    rate_per_s: float | Rate | None = None
    poisson: bool = True
    think: bool = False
    mode: str = "client"
    home: str = "random"
    interval_s: float = 1.0
    window: int = 1
    reconnect_s: float = 5.0
    several: tuple[Loaded, ...] = ()
    database: int | None = None

    @property
    def rate(self) -> Rate | None:
        """The rate of an open loop."""
        if self.rate_per_s is None or isinstance(self.rate_per_s, Rate):
            return self.rate_per_s
        return Rate.constant(self.rate_per_s)

    @property
    def title(self) -> str:
        """``16 users``, ``500/s over 32 users, window 2``."""
        users = f"{self.users} user{'s' if self.users != 1 else ''}"
        users += f" in each of {len(self.several)} databases" if self.several else ""
        load = users if self.rate is None else f"{self.rate.title} over {users}"
        return load if self.window == 1 else f"{load}, window {self.window}"

    @property
    def level(self) -> str:
        """Name of the level in the bundle."""
        if self.database is not None:
            return f"{replace(self, database=None).level}-db-{self.database}"
        users = f"users-{self.users}"
        again = "" if self.window == 1 else f"-window-{self.window}"
        return (users if self.rate is None else f"{self.rate.name}-{users}") + again

    def loop(self) -> dict[str, Any]:
        """The loop as the driver takes it."""
        if self.rate is None:
            return {"kind": "closed", "think": self.think}
        return {"kind": "open", "rate_per_s": self.rate.plan(), "poisson": self.poisson}


def interval_for(window_s: float) -> float:
    """Seconds an interval, so that a window of ``window_s`` has enough of them to be judged."""
    return max(_SHORTEST_S, min(1.0, round(window_s / _INTERVALS, 3)))


def program(recorder: Recorder, target: Target, workload: str) -> None:
    """Puts a workload's procedures into a target that has them put there.

    Raises:
        UsageError: If something that is not Dyno's is in their way.
        TargetError: If they could not be made.
    """
    if not isinstance(target, Programmable):
        return
    name, title = f"procedures-{workload}-{target.name}", f"Procedures in {target.name}"
    with recorder.phase(name, title, ProvisionDetail(), target.name) as phase:
        phase.detail = ProvisionDetail.model_validate(target.program(workload))


def drive_one(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    progress: Progress,
    beside: Beside | None = None,
    after: After | None = None,
) -> dict[str, Any]:
    """Drives one level in one database and records every second of it.

    Args:
        recorder: Takes the record.
        target: Who is driven.
        plan: How.
        progress: Told how far it is.
        beside: Works meanwhile, and may end the level early; see
            :func:`dyno.runtime.engine_calls.run_engine`.
        after: Given the level's name and outcome; what it tells is kept with the level.

    Returns:
        The driver's outcome: throughput, percentiles, errors, and what the client itself cost.

    Raises:
        TargetError: If the server was lost for good.
    """
    title = f"{workloads.get(plan.workload).title}, {plan.title}"
    name = f"oltp-{plan.workload}-{target.name}-{plan.level}"
    asked = told(plan)
    with recorder.phase(name, title, asked(), target.name) as phase, explained(target):
        outcome = run_engine(
            "drive", request(recorder, target, plan), progress, beside, gives_way(target)
        )
        phase.detail = ended(asked, plan.level, outcome, after)
    return outcome


def told(plan: OltpPlan) -> partial[OltpDetail]:
    """What the phase of a level tells of it from the start."""
    return partial(
        OltpDetail,
        workload=workload_of(plan.workload),
        database=plan.database,
        level=plan.level,
        users=plan.users,
        **scale_fact(plan.workload, plan.loaded.scale),
        mode=plan.mode,
        loop=Loop.model_validate(plan.loop()),
        home=plan.home,
        warmup_s=plan.warmup_s,
        duration_s=plan.duration_s,
        seed=plan.seed,
        reconnect_s=plan.reconnect_s,
        window=plan.window if plan.window > 1 else None,
    )


def ended(
    begun: partial[OltpDetail], level: str, outcome: dict[str, Any], after: After | None
) -> OltpDetail:
    """The same with what came of it."""
    extended = None if after is None else after(level, outcome)
    left_out_s = (extended.left_out_s if extended else None) or 0.0
    return begun(
        outcome=Outcome.model_validate(outcome),
        duration_s=outcome["seconds"] - left_out_s,
        until_steady=extended,
    )


def scale_fact(workload: str, scale: float) -> dict[str, Any]:
    """The scale of a level's data under the name that the workload gives it."""
    name = workloads.get(workload).transactions.recorded
    return {name: int(scale) if scale == int(scale) else scale}


def request(recorder: Recorder, target: Target, plan: OltpPlan) -> dict[str, Any]:
    """The level as the compiled driver takes it; may hold a password."""
    driven = workloads.get(plan.workload).transactions
    return {
        "wire": target.wire(plan.workload),
        "workload": {
            "kind": driven.kind,
            "params": driven.params(Work(plan.loaded, plan.home, plan.mode)),
        },
        "seed": plan.seed,
        "users": plan.users,
        "loop": plan.loop(),
        "reconnect_s": plan.reconnect_s,
        "warmup_s": plan.warmup_s,
        "duration_s": plan.duration_s,
        "clock": recorder.clock.model_dump(),
        "spool": str(recorder.spool(f"ops/{plan.level}")),
        "interval_s": plan.interval_s,
    }


@contextlib.contextmanager
def explained(target: Target) -> Generator[None]:
    """Adds to the error of users who found no room how many would have.

    That of users who lost a private server is what ended it.
    """
    try:
        yield
    except TargetError as error:
        if error.kind == "connection_lost" and isinstance(target, Supervised):
            died = target.exit_reason()
            if died is None:
                raise
            raise died from error
        if error.kind != "too_many_connections" or not isinstance(target, Limited):
            raise
        raise TargetError(f"{error}. {target.room()}".rstrip(), kind=error.kind) from error

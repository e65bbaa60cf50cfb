"""Transactions at one load level: N users or a rate, for a fixed time."""

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
from dyno.contracts.databases import OWN, part_of, workload_of
from dyno.contracts.target import Limited, Loaded, Programmable, Supervised, Target
from dyno.contracts.transactions import Work
from dyno.errors import TargetError
from dyno.runtime.engine_calls import Beside, run_engine
from dyno.runtime.progress import Progress
from dyno.safety.messages import valueless
from dyno.stages.drive.scheduler import gives_way

After = Callable[[str, dict[str, Any]], UntilSteady]

_INTERVALS = 60
_SHORTEST_S = 0.01


@dataclass(frozen=True)
class OltpPlan:
    """One load level.

    Attributes:
        users: Number of concurrent sessions.
        rate_per_s: Transactions per second of an open loop: a number or a rate that changes over
            time. None selects a closed loop.
        poisson: Whether the arrivals of the open loop are random (Poisson) or evenly spaced.
        think: Whether users apply the keying and think times of the workload (closed loop only).
        interval_s: Length of the recorded intervals. Short windows need short intervals for the
            steady-state test.
        window: Number of the window at this load, if a search repeats a load.
        mode: Where transactions are programmed: ``client`` or ``procedure``.
        reconnect_s: How long a user retries a lost connection.
        home: Which part of the data, such as a warehouse, a user accesses: always the same
            (``fixed``), a random one each time (``random``), or each in turn (``all``).
        several: The loaded data of each of several databases under load; empty for a single
            database. ``users`` is then per database, and a rate is the total.
        database: Number of the database, if it is one of several; None for a single database.
            ``workload`` is then the name of that database.
        label: Tells levels of a run with the same load apart, such as those of two targets.
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
    label: str = ""

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
        load += f", {self.label}" if self.label else ""
        return load if self.window == 1 else f"{load}, window {self.window}"

    @property
    def level(self) -> str:
        """Name of the level in the bundle."""
        if self.database is not None:
            return part_of(replace(self, database=None).level, self.database)
        users = f"users-{self.users}"
        again = f"-{self.label}" if self.label else ""
        again += "" if self.window == 1 else f"-window-{self.window}"
        return (users if self.rate is None else f"{self.rate.name}-{users}") + again

    def loop(self) -> dict[str, Any]:
        """The loop in the format of the driver."""
        if self.rate is None:
            return {"kind": "closed", "think": self.think}
        return {"kind": "open", "rate_per_s": self.rate.plan(), "poisson": self.poisson}


def interval_for(window_s: float) -> float:
    """Returns an interval in seconds that gives a window of ``window_s`` enough intervals."""
    return max(_SHORTEST_S, min(1.0, round(window_s / _INTERVALS, 3)))


def program(recorder: Recorder, target: Target, workload: str) -> None:
    """Creates the stored procedures of a workload, on targets that need them.

    Raises:
        UsageError: If objects that Dyno did not create are in the way.
        TargetError: If the procedures cannot be created.
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
    """Runs one level in one database and records every second.

    Args:
        recorder: Receives the record.
        target: The target.
        plan: The plan.
        progress: Receives the progress.
        beside: Runs during the level and may end it early; see
            :func:`dyno.runtime.engine_calls.run_engine`.
        after: Called with the name and outcome of the level. Its result is stored with the level.

    Returns:
        The driver outcome: throughput, percentiles, errors, and the client cost.

    Raises:
        TargetError: If the server is permanently lost.
    """
    title = f"{workloads.get(plan.workload).title}, {plan.title}"
    name = level_phase(target.name, plan)
    asked = base_detail(plan)
    with recorder.phase(name, title, asked(), target.name) as phase, explained(target):
        outcome = run_engine(
            "drive", request(recorder, target, plan), progress, beside, gives_way(target)
        )
        phase.detail = ended(asked, plan.level, outcome, after)
    return outcome


def level_phase(target: str, plan: OltpPlan) -> str:
    """Name of the phase of a level."""
    return f"oltp-{plan.workload}-{target}-{plan.level}"


def base_detail(plan: OltpPlan) -> partial[OltpDetail]:
    """Returns the phase detail known at the start of a level."""
    return partial(
        OltpDetail,
        workload=workload_of(plan.workload),
        database=plan.database,
        level=plan.level,
        users=plan.users,
        **scale_fact(plan.workload, plan.loaded.scale),
        days=plan.loaded.days,
        mode=plan.mode,
        loop=Loop.model_validate(plan.loop()),
        home=plan.home,
        warmup_s=plan.warmup_s,
        duration_s=plan.duration_s,
        seed=plan.seed,
        reconnect_s=plan.reconnect_s,
        window=plan.window if plan.window > 1 else None,
        label=plan.label or None,
    )


def ended(
    begun: partial[OltpDetail], level: str, outcome: dict[str, Any], after: After | None
) -> OltpDetail:
    """Returns the same detail with the outcome."""
    extended = None if after is None else after(level, outcome)
    left_out_s = (extended.left_out_s if extended else None) or 0.0
    return begun(
        outcome=outcome_of(begun.keywords["workload"], outcome),
        duration_s=outcome["seconds"] - left_out_s,
        until_steady=extended,
    )


def outcome_of(workload: str, found: dict[str, Any]) -> Outcome:
    """Returns the outcome for the record; errors of users' own statements have no values."""
    if workload.startswith(OWN):
        first: dict[str, str] = found["errors_first"]
        safe = {kind: valueless(kind, message) for kind, message in first.items()}
        found = {**found, "errors_first": safe}
    return Outcome.model_validate(found)


def scale_fact(workload: str, scale: float) -> dict[str, Any]:
    """Returns the scale of the data under the name that the workload uses."""
    name = workloads.get(workload).transactions.recorded
    return {name: int(scale) if scale == int(scale) else scale}


def request(recorder: Recorder, target: Target, plan: OltpPlan) -> dict[str, Any]:
    """Returns the level in the format of the compiled driver. It may contain a password."""
    driven = workloads.get(plan.workload).transactions
    place = workloads.place_of(plan.workload)
    connect = partial(target.connect, place) if target.capabilities.load is True else None
    shared = f"{recorder.path}/{target.name}/{plan.workload}"
    params = driven.params(Work(plan.loaded, plan.home, plan.mode, connect, shared))
    retries = {} if driven.retries is None else {"max_retries": driven.retries}
    return {
        "wire": target.wire(place),
        "workload": {"kind": driven.kind, "params": params},
        **retries,
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
    """Adds the possible number of sessions to the error of users that the server rejected.

    If a private server was lost, its exit reason replaces the error of the users.
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
        raise TargetError(
            f"{error}. {target.free_connections()}".rstrip(), kind=error.kind
        ) from error

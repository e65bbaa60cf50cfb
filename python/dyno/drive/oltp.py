"""Transactions at one level of load: N users, or a rate, for a while."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dyno import workloads
from dyno.drive.checkpoints import CheckpointCount
from dyno.engine import run_engine
from dyno.errors import TargetError
from dyno.progress import Progress
from dyno.record import Recorder
from dyno.targets.base import Limited, Loaded, Programmable, Target

if TYPE_CHECKING:
    from dyno import _core


@dataclass(frozen=True)
class OltpPlan:
    """One level of load.

    Attributes:
        users: Sessions at once.
        rate_per_s: Transactions a second of an open loop; None closes the loop.
        poisson: Whether the open loop's arrivals are random rather than evenly spaced.
        think: Whether users type and think as the workload prescribes (closed loop only).
        mode: Where transactions are programmed: ``client`` or ``procedure``.
        reconnect_s: How long a user tries to get a lost connection back.
    """

    workload: str
    loaded: Loaded
    users: int
    warmup_s: float
    duration_s: float
    seed: int
    rate_per_s: float | None = None
    poisson: bool = True
    think: bool = False
    mode: str = "client"
    home: str = "random"
    reconnect_s: float = 5.0

    @property
    def level(self) -> str:
        """Name of the level in the bundle."""
        if self.rate_per_s is None:
            return f"users-{self.users}"
        return f"rate-{self.rate_per_s:g}-users-{self.users}"

    def loop(self) -> dict[str, Any]:
        """The loop as the driver takes it."""
        if self.rate_per_s is None:
            return {"kind": "closed", "think": self.think}
        return {"kind": "open", "rate_per_s": self.rate_per_s, "poisson": self.poisson}


def program(recorder: Recorder, target: Target, workload: str) -> None:
    """Puts a workload's procedures into a target that has them put there.

    Raises:
        UsageError: If something that is not Dyno's is in their way.
        TargetError: If they could not be made.
    """
    if not isinstance(target, Programmable):
        return
    name, title = f"procedures-{workload}-{target.name}", f"Procedures in {target.name}"
    with recorder.phase(name, title, "provision", target.name) as detail:
        detail.update(target.program(workload))


def drive(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    progress: Progress,
    beside: Callable[[_core.Control, threading.Event], None] | None = None,
) -> dict[str, Any]:
    """Drives one level and records every second of it.

    Args:
        recorder: Takes the record.
        target: Who is driven.
        plan: How.
        progress: Told how far it is.
        beside: Works meanwhile, and may end the level early; see :func:`dyno.engine.run_engine`.

    Returns:
        The driver's outcome: throughput, percentiles, errors, and what the client itself cost.

    Raises:
        TargetError: If the server was lost for good.
    """
    from dyno import _core

    title = f"{workloads.get(plan.workload).title}, {_load_text(plan)}"
    name = f"oltp-{plan.workload}-{target.name}-{plan.level}"
    counted = CheckpointCount(target, progress, plan.warmup_s)
    with recorder.phase(name, title, "oltp", target.name) as detail, _roomy(target):
        detail.update(
            workload=plan.workload,
            level=plan.level,
            users=plan.users,
            warehouses=int(plan.loaded.scale),
            mode=plan.mode,
            loop=plan.loop(),
            warmup_s=plan.warmup_s,
            duration_s=plan.duration_s,
            seed=plan.seed,
            reconnect_s=plan.reconnect_s,
        )
        outcome = run_engine(
            "drive",
            {
                "wire": target.wire(plan.workload),
                "workload": plan.workload,
                "warehouses": int(plan.loaded.scale),
                "seed": plan.seed,
                "c_load": _core.load_constant(plan.loaded.seed),
                "users": plan.users,
                "mode": plan.mode,
                "loop": plan.loop(),
                "home": plan.home,
                "reconnect_s": plan.reconnect_s,
                "warmup_s": plan.warmup_s,
                "duration_s": plan.duration_s,
                "clock": recorder.clock.model_dump(),
                "spool": str(recorder.spool(f"ops/{plan.level}")),
            },
            counted,
            beside,
        )
        detail.update(outcome=outcome, duration_s=outcome["seconds"], **counted.facts())
    return outcome


@contextlib.contextmanager
def _roomy(target: Target) -> Generator[None]:
    """Adds to the error of users who found no room how many would have."""
    try:
        yield
    except TargetError as error:
        if error.kind != "too_many_connections" or not isinstance(target, Limited):
            raise
        raise TargetError(f"{error}. {target.room()}".rstrip(), kind=error.kind) from error


def _load_text(plan: OltpPlan) -> str:
    users = f"{plan.users} user{'s' if plan.users != 1 else ''}"
    return users if plan.rate_per_s is None else f"{plan.rate_per_s:g}/s over {users}"

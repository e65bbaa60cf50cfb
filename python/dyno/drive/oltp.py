"""Transactions at one level of load: N users, or a rate, for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dyno import workloads
from dyno.databases import workload_of
from dyno.drive.checkpoints import CheckpointCount
from dyno.engine import run_engine
from dyno.progress import Progress
from dyno.record import Recorder
from dyno.targets.base import Loaded, Target

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
        database: Which of several that are driven at once; None for one alone. ``workload`` is
            then the name of that database.
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
    database: int | None = None

    @property
    def level(self) -> str:
        """Name of the level in the bundle."""
        if self.database is not None:
            return f"{replace(self, database=None).level}-db-{self.database}"
        if self.rate_per_s is None:
            return f"users-{self.users}"
        return f"rate-{self.rate_per_s:g}-users-{self.users}"

    def loop(self) -> dict[str, Any]:
        """The loop as the driver takes it."""
        if self.rate_per_s is None:
            return {"kind": "closed", "think": self.think}
        return {"kind": "open", "rate_per_s": self.rate_per_s, "poisson": self.poisson}


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
    title = f"{workloads.get(plan.workload).title}, {load_text(plan)}"
    name = f"oltp-{plan.workload}-{target.name}-{plan.level}"
    counted = CheckpointCount(target, progress, plan.warmup_s)
    with recorder.phase(name, title, "oltp", target.name) as detail:
        detail.update(facts(plan))
        outcome = run_engine("drive", request(recorder, target, plan), counted, beside)
        detail.update(outcome=outcome, duration_s=outcome["seconds"], **counted.facts())
    return outcome


def facts(plan: OltpPlan) -> dict[str, Any]:
    """What the phase of a level says of it."""
    return {
        "workload": workload_of(plan.workload),
        "level": plan.level,
        "users": plan.users,
        "warehouses": int(plan.loaded.scale),
        "mode": plan.mode,
        "loop": plan.loop(),
        "warmup_s": plan.warmup_s,
        "duration_s": plan.duration_s,
        "seed": plan.seed,
    }


def request(recorder: Recorder, target: Target, plan: OltpPlan) -> dict[str, Any]:
    """The level as the compiled driver takes it; may hold a password."""
    from dyno import _core

    return {
        "wire": target.wire(plan.workload),
        "workload": workload_of(plan.workload),
        "warehouses": int(plan.loaded.scale),
        "seed": plan.seed,
        "c_load": _core.load_constant(plan.loaded.seed),
        "users": plan.users,
        "mode": plan.mode,
        "loop": plan.loop(),
        "home": plan.home,
        "warmup_s": plan.warmup_s,
        "duration_s": plan.duration_s,
        "clock": recorder.clock.model_dump(),
        "spool": str(recorder.spool(f"ops/{plan.level}")),
    }


def load_text(plan: OltpPlan) -> str:
    """The load as people read it."""
    users = f"{plan.users} user{'s' if plan.users != 1 else ''}"
    return users if plan.rate_per_s is None else f"{plan.rate_per_s:g}/s over {users}"

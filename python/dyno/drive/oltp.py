"""Transactions at one level of load: N users, or a rate, for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dyno import workloads
from dyno.drive.checkpoints import CheckpointCount
from dyno.engine import run_engine
from dyno.progress import Progress
from dyno.rates import Rate
from dyno.record import Recorder
from dyno.targets.base import Loaded, Target

if TYPE_CHECKING:
    from dyno import _core


@dataclass(frozen=True)
class OltpPlan:
    """One level of load.

    Attributes:
        users: Sessions at once.
        rate_per_s: Transactions a second of an open loop, a number or a rate that changes; None
            closes the loop.
        poisson: Whether the open loop's arrivals are random rather than evenly spaced.
        think: Whether users type and think as the workload prescribes (closed loop only).
        home: Which warehouse a user works for: the same one (``fixed``), one drawn each time
            (``random``), or each in turn (``all``).
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

    @property
    def rate(self) -> Rate | None:
        """The rate of an open loop."""
        if self.rate_per_s is None or isinstance(self.rate_per_s, Rate):
            return self.rate_per_s
        return Rate.constant(self.rate_per_s)

    @property
    def title(self) -> str:
        """``16 users``, ``500/s over 32 users``."""
        users = f"{self.users} user{'s' if self.users != 1 else ''}"
        return users if self.rate is None else f"{self.rate.title} over {users}"

    @property
    def level(self) -> str:
        """Name of the level in the bundle."""
        users = f"users-{self.users}"
        return users if self.rate is None else f"{self.rate.name}-{users}"

    def loop(self) -> dict[str, Any]:
        """The loop as the driver takes it."""
        if self.rate is None:
            return {"kind": "closed", "think": self.think}
        return {"kind": "open", "rate_per_s": self.rate.plan(), "poisson": self.poisson}


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

    title = f"{workloads.get(plan.workload).title}, {plan.title}"
    name = f"oltp-{plan.workload}-{target.name}-{plan.level}"
    counted = CheckpointCount(target, progress, plan.warmup_s)
    with recorder.phase(name, title, "oltp", target.name) as detail:
        detail.update(
            workload=plan.workload,
            level=plan.level,
            users=plan.users,
            warehouses=int(plan.loaded.scale),
            mode=plan.mode,
            loop=plan.loop(),
            home=plan.home,
            warmup_s=plan.warmup_s,
            duration_s=plan.duration_s,
            seed=plan.seed,
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

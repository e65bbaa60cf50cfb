"""Maintenance during transactions: one load level spans the time before, during and after it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Target
from dyno.runtime.engine_calls import Handle
from dyno.runtime.progress import Progress
from dyno.stages.drive.during import DuringPlan, Upkeep, upkeep
from dyno.stages.drive.oltp import OltpPlan
from dyno.stages.drive.several import drive

_POLL_S = 0.02
_SLACK_S = 60.0
"""Time to stop the maintenance at its limit and to end the level."""


def drive_during(
    recorder: Recorder, target: Target, plan: OltpPlan, during: DuringPlan, progress: Progress
) -> dict[str, Any]:
    """Runs a load level. The maintenance starts after the first part; a last part follows it.

    With several databases, the load covers all of them and the maintenance only one.

    Returns:
        The driver outcome of the whole level.

    Raises:
        UsageError: If the target does not support the maintenance.
        TargetError: If the server is permanently lost.
    """
    longest = replace(plan, duration_s=2 * during.stretch_s + during.limit_s + _SLACK_S)
    beside = MaintenanceDetail(
        workload=plan.workload,
        database=during.database,
        level=plan.level,
        warmup_s=plan.warmup_s,
    )
    stage = _Stage(progress)
    with upkeep(recorder, target, during, beside) as work:

        def conduct(control: Handle, ended: threading.Event) -> None:
            _conduct(control, ended, work, stage, plan.warmup_s, during)

        return drive(recorder, target, longest, stage, conduct)


def _conduct(
    control: Handle,
    ended: threading.Event,
    work: Upkeep,
    stage: _Stage,
    warmup_s: float,
    during: DuringPlan,
) -> None:
    """Controls the level while the driver runs. ``ended``: the level is over, for any reason."""
    due_ms = 1000 * (warmup_s + during.stretch_s)
    stage.name = "before"
    if not _wait(lambda: float(control.progress()["done"]) >= due_ms, ended):
        return
    stage.name = during.name
    work.start()
    if not _wait(lambda: work.ended, ended):
        return
    if work.course.error is None:
        stage.name = "after"
        until = time.monotonic() + during.stretch_s
        if not _wait(lambda: time.monotonic() >= until, ended):
            return
    control.finish()


def _wait(condition: Callable[[], bool], ended: threading.Event) -> bool:
    """Waits until ``condition`` holds. Returns False if ``ended`` is set first."""
    while not condition():
        if ended.wait(_POLL_S):
            return False
    return True


class _Stage:
    """Driver progress that shows the current part, because the total is unknown."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.name = ""

    def update(self, done: float, total: float, text: str = "") -> None:  # noqa: ARG002
        """Shows the current part."""
        words = text if "warm-up" in text else f"{text}, {self.name}"
        self._progress.update(0, 0, words)

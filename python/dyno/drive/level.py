"""A level of load, in one database or in several at once."""

from __future__ import annotations

from typing import Any

from dyno.drive.oltp import After, OltpPlan, drive_one
from dyno.drive.several import drive_several
from dyno.engine import Beside
from dyno.progress import Progress
from dyno.record import Recorder
from dyno.targets.base import Target


def drive(
    recorder: Recorder,
    target: Target,
    plan: OltpPlan,
    progress: Progress,
    beside: Beside | None = None,
    after: After | None = None,
) -> dict[str, Any]:
    """Drives a level; see :func:`drive_one` and, of ``plan.several``, :func:`drive_several`.

    Returns:
        The driver's outcome: throughput, percentiles, errors, and what the client itself cost.

    Raises:
        TargetError: If the server was lost for good.
    """
    driven = drive_several if plan.several else drive_one
    return driven(recorder, target, plan, progress, beside, after)

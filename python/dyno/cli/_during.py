"""``--during``: maintenance beside the work, as ``dyno run`` is asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dyno.drive import DuringPlan


def during_plan(settings: dict[str, Any]) -> DuringPlan | None:
    """The plan for it; None if nothing was asked for."""
    from dyno.drive import DuringPlan

    if settings["during"] is None:
        return None
    return DuringPlan(settings["during"], settings["duration_s"], settings["during_limit_s"])

"""Maintenance during a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dyno.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dyno.contracts.target import Target, TargetUrl
    from dyno.contracts.workload import Workload
    from dyno.plans.run import RunPlan
    from dyno.runner.session import Session
    from dyno.stages.drive import DuringPlan


def require_able(url: TargetUrl, out: Path, workload: Workload, settings: dict[str, Any]) -> None:
    """Rejects plans, maintenance and databases that the target does not support, before it starts.

    ``during_database`` becomes the number of the database under maintenance, if any.

    Raises:
        UsageError: With the reason.
    """
    from dyno import targets
    from dyno.contracts import maintenance, plans
    from dyno.contracts.target import Limits
    from dyno.targets import several

    target = targets.open_target(url, out, Limits(memory_bytes=1 << 30, threads=1))
    several.require(target, settings["databases"])
    if settings["plans"]:
        plans.require(target)
    if settings["during"] is not None:
        maintenance.require(target, settings["during"])
        if not workload.loads and not maintenance.is_of_all(target, settings["during"]):
            raise UsageError(
                f"{workload.called} has no tables of Dyno's, so {settings['during']} has nothing "
                "to maintain."
            )
        settings["during_database"] = maintenance.database(
            target, settings["during"], settings["databases"], settings["during_database"]
        )


def require_here(target: Target, workload: str, settings: dict[str, Any]) -> None:
    """Rejects maintenance that the connected server cannot do, before anything is measured.

    Raises:
        UsageError: With the reason.
    """
    from dyno.contracts.needs import Examinable, Needs

    if settings["during"] is not None and isinstance(target, Examinable):
        target.examine(Needs(workload, maintenance=settings["during"]))


def during_plan(settings: dict[str, Any]) -> DuringPlan | None:
    """Returns the maintenance plan; None if no maintenance is requested."""
    from dyno.stages.drive import DuringPlan

    if settings["during"] is None:
        return None
    return DuringPlan(
        settings["during"],
        settings["duration_s"],
        settings["during_limit_s"],
        settings["during_database"],
    )


def estimate_during(
    session: Session,
    asked: RunPlan,
    workload: str,
    scale: float | None,
    settings: dict[str, Any],
) -> None:
    """Estimates the extra space of the maintenance; neither it nor the workload runs.

    Raises:
        UsageError: If the data is missing, or the target does not support the maintenance.
        TargetError: If the target cannot be used.
    """
    from dyno.config.units import bytes_text
    from dyno.runner.databases import loaded_in_all
    from dyno.stages import drive

    plan = during_plan(settings)
    if plan is None:
        return
    with session.target(asked.url, before_start(settings)) as target:
        loaded_in_all(target, workload, scale, settings["databases"])
        with session.events.phase(f"{plan.title}: estimate"):
            found = drive.estimated(session.recorder, target, plan, workload)
    size = found.space_estimate_bytes
    words = "Extra space is unknown" if size is None else f"{bytes_text(size)} of extra space"
    session.events.say(f"  {words}: {found.space_estimate_source}")


def before_start(settings: dict[str, Any]) -> Callable[[Target], None] | None:
    """Returns a hook that announces the maintenance to a target just before the target starts."""
    from dyno.contracts import maintenance

    name = settings["during"]
    return None if name is None else lambda target: maintenance.ready(target, name)

"""``--databases``: several complete copies of the tables of a workload."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dyno import workloads
from dyno.contracts.databases import names, split
from dyno.errors import UsageError
from dyno.stages import resume

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.contracts.target import Loaded, LoadPlan, Target, TargetUrl
    from dyno.runner.session import Session

__all__ = ["loaded_in_all", "loads", "names", "require_databases"]


def require_databases(url: TargetUrl, out: Path, count: int) -> None:
    """Rejects several databases if the target supports only one. Runs before the target starts.

    Raises:
        UsageError: With the reason.
    """
    from dyno import targets
    from dyno.contracts.target import Limits
    from dyno.targets import several

    if count > 1:
        several.require(targets.open_target(url, out, Limits(1 << 30, 1)), count)


def loads(
    session: Session, target: Target, plan: LoadPlan, count: int, *, replace: bool
) -> list[tuple[LoadPlan, bool]]:
    """Returns the load of each database, and whether it may replace existing data.

    ``plan`` is the plan of the first database. A resumed load skips complete databases. If the load
    of a single database was interrupted before its first row, the load is rejected with
    instructions. With several databases, such a load restarts, because ``--replace`` would delete
    the other databases.

    Raises:
        UsageError: If there is no load to resume, or its data or layout differs.
    """
    if count == 1:
        return [(plan, replace)]
    every = names(plan.workload, count)
    if not plan.resume:
        return [(dataclasses.replace(plan, workload=name), replace) for name in every]
    left = resume.rest(target, plan, every)
    for name in left.whole:
        session.events.say(f"  {name} in {target.name} is complete; kept")
    session.recorder.event("resume", whole=list(left.whole))
    return [(one, not one.resume) for one in left.plans]


def loaded_in_all(
    target: Target, workload: str, scale: float | None, count: int
) -> dict[str, Loaded]:
    """Returns the loaded data of the first ``count`` databases by name. All have the same data.

    Raises:
        UsageError: If a database has no data, or its scale, days, seed or layout differs from that
            of the first.
        TargetError: If a load is incomplete.
    """
    from dyno.runner import stages

    found: dict[str, Loaded] = {}
    for name in names(workload, count):
        number = split(name)[1]
        if number > 1 and target.loaded(name) is None:
            wanted = found[workload].scale
            able = target.capabilities.resume is True
            what, option = ("what is missing", "resume") if able else ("all of them", "replace")
            raise UsageError(
                f"{target.name} holds no database {number} of {workload}. Load {what}: dyno "
                f"load {workloads.get(workload).called} --target {target.url.redacted} "
                f"--scale {wanted:.15g} --databases {count} --{option}"
            )
        found[name] = stages.loaded_data(target, name, scale)
        unlike = _unlike(found[workload], found[name])
        if unlike:
            raise UsageError(
                f"Database {number} of {workload} in {target.name} has {unlike}. Load all of them "
                f"again: dyno load {workloads.get(workload).called} --target "
                f"{target.url.redacted} --scale {found[workload].scale:.15g} --databases {count} "
                "--replace"
            )
    return found


def _unlike(first: Loaded, other: Loaded) -> str:
    """How the data of another database differs from that of the first; empty if it does not."""
    known = {
        "scale": (f"{first.scale:.15g}", f"{other.scale:.15g}"),
        "days": (first.days or "the usual", other.days or "the usual"),
        "seed": (first.seed, other.seed),
    }
    found = [
        f"{name} {theirs} and not {own} as the first"
        for name, (own, theirs) in known.items()
        if own != theirs
    ]
    if first.layout != other.layout:
        found.append("another layout than the first")
    return ", ".join(found)

"""Workloads that work on the tables of another one, and add a few of their own next to them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dyno.contracts import databases
from dyno.errors import UsageError
from dyno.stages.resume import same_layout

if TYPE_CHECKING:
    from dyno.contracts.target import LoadPlan, Target
    from dyno.runner.session import Session


def stays(target: Target, plan: LoadPlan, workload: str, count: int) -> bool:
    """Whether a load of ``workload`` keeps the complete tables of its home as they are.

    Args:
        target: The target.
        plan: The load of the home's first database, without ``--replace``.
        workload: The workload to load; it may be its own home.
        count: Number of databases.

    Raises:
        UsageError: If the tables are of other data, or there is nothing to add to them.
    """
    if workload == plan.workload or (plan.layout is not None and not plan.resume):
        return False
    homes = databases.names(plan.workload, count)
    found = [target.loaded(home) for home in homes]
    if not all(one is not None and one.complete for one in found):
        return False
    if plan.resume and not all(one and same_layout(plan.layout, one.layout) for one in found):
        return False
    for home, one in zip(homes, found, strict=True):
        if one is not None and (one.scale, one.seed) != (plan.scale, plan.seed):
            raise UsageError(
                f"{target.name} holds {home} at scale {one.scale:.15g} with seed {one.seed}, not "
                f"scale {plan.scale:.15g} with seed {plan.seed}. Use the same, or --replace."
            )
    if not any(_lacks(target, name) for name in databases.names(workload, count)):
        raise UsageError(
            f"{target.name} already contains the tables of {workload}, next to those of "
            f"{plan.workload}; use --replace to load all of them again."
        )
    return True


def add(session: Session, target: Target, workload: str, count: int) -> None:
    """Loads the tables that ``workload`` adds, where its home is complete and they are missing."""
    from dyno.contracts.target import LoadPlan
    from dyno.runner import stages

    if target.capabilities.load is not True:
        return
    for name in databases.names(workload, count):
        home = databases.home_of(name)
        held = target.loaded(home) if home != name else None
        if held is None or not held.complete or not _lacks(target, name):
            continue
        session.events.say(f"Adding the tables of {name} to those of {home}.")
        plan = LoadPlan(name, held.scale, held.seed, streams=1)
        stages.load_and_prove(session, target, plan, replace=True)


def _lacks(target: Target, name: str) -> bool:
    """Whether the tables are missing, incomplete, or marked for other data of their home."""
    own, home = target.loaded(name), target.loaded(databases.home_of(name))
    if own is None or home is None:
        return True
    plain = dataclasses.replace(home, layout=own.layout, days=own.days)
    return own != plain

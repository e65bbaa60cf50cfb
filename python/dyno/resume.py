"""Loads that were cut off: what is there, and whether a load can go on from it."""

from __future__ import annotations

from dyno.errors import UsageError
from dyno.layouts.model import Layout
from dyno.targets.base import LoadPlan, Resumable, Target, Unfinished


def unfinished(target: Target, workload: str) -> Unfinished | None:
    """The load of ``workload`` that did not end, if the target can tell and it can go on."""
    if target.capabilities.resume is not True or not isinstance(target, Resumable):
        return None
    return target.unfinished(workload)


def require(target: Target, plan: LoadPlan) -> Unfinished:
    """The unfinished load that ``plan`` goes on with.

    Raises:
        UsageError: If there is none, the target cannot, or it was of other data or layout.
    """
    able = target.capabilities.resume
    if able is not True:
        raise UsageError(f"{target.name} cannot go on with a load: {able}.")
    found = unfinished(target, plan.workload)
    if found is None:
        state = target.loaded(plan.workload)
        if state is not None and state.complete:
            raise UsageError(
                f"{target.name} holds {plan.workload} at scale {state.scale:g}, whole: there is "
                "nothing to resume. Give --replace to load it again."
            )
        raise UsageError(
            f"{target.name} holds no unfinished load of {plan.workload} that could go on. "
            "Leave --resume out" + (", and give --replace." if state is not None else ".")
        )
    for name, there, wanted in (
        ("scale", found.scale, plan.scale),
        ("seed", found.seed, plan.seed),
    ):
        if there != wanted:
            raise UsageError(
                f"The unfinished load in {target.name} has {name} {there:g}, not {wanted:g}. "
                f"Give --{name} {there:g}, or --replace to start again."
            )
    _require_design(target, plan)
    return found


def _require_design(target: Target, plan: LoadPlan) -> None:
    """The tables are there already: they have the design that the first load gave them."""
    state = target.loaded(plan.workload)
    text = "" if state is None else state.layout
    there = Layout.model_validate_json(text) if text else None
    if _bare(there) != _bare(plan.layout):
        names = ["default" if item is None else item.name for item in (there, plan.layout)]
        what = f"layout {names[0]}, not {names[1]}"
        if names[0] == names[1]:
            what = f"another layout {names[0]} than the one given"
        raise UsageError(
            f"The unfinished load in {target.name} has {what}. "
            "Leave --layout out, or give --replace to start again."
        )


def _bare(layout: Layout | None) -> Layout | None:
    """A layout without what does not change the design: its notes, and where it was read."""
    return None if layout is None else layout.model_copy(update={"notes": (), "source": ""})


def refuse_unfinished(target: Target, workload: str) -> None:
    """Stops a load that would find an unfinished one in its way, and says what can be done.

    Raises:
        UsageError: If there is one.
    """
    found = unfinished(target, workload)
    if found is not None:
        raise UsageError(
            f"{target.name} holds an unfinished load of {workload} at scale {found.scale:g} "
            f"({found.rows:,} rows in {found.parts} parts are in). "
            "Give --resume to go on with it, or --replace to start again."
        )

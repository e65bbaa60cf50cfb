"""Interrupted loads: their state, and whether a load can resume."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dyno.contracts.databases import split
from dyno.contracts.layout import Layout
from dyno.contracts.target import Loaded, LoadPlan, Resumable, Target, Unfinished
from dyno.errors import UsageError


def unfinished(target: Target, workload: str) -> Unfinished | None:
    """Returns the unfinished load of ``workload``, if the target can report and resume it."""
    if target.capabilities.resume is not True or not isinstance(target, Resumable):
        return None
    return target.unfinished(workload)


def unfinished_of(target: Target, names: Sequence[str]) -> Unfinished | None:
    """Returns the first unfinished load of several databases."""
    found = (unfinished(target, name) for name in names)
    return next((one for one in found if one is not None), None)


def require(target: Target, plan: LoadPlan) -> Unfinished:
    """Returns the unfinished load that ``plan`` resumes.

    Raises:
        UsageError: If there is none, the target does not support it, or its data or layout differs.
    """
    _require_able(target)
    found = unfinished(target, plan.workload)
    state = target.loaded(plan.workload)
    if found is None:
        if state is not None and state.complete:
            raise _nothing_left(target, plan.workload, state)
        raise UsageError(
            f"{target.name} holds no unfinished load of {plan.workload} to resume. "
            "Remove --resume" + (", and use --replace." if state is not None else ".")
        )
    workload, number = split(plan.workload)
    which = f" of database {number} of {workload}" if number > 1 else ""
    what = f"The unfinished load{which} in {target.name}"
    _require_same(what, plan, found, "" if state is None else state.layout)
    if found.tables and plan.tables and found.tables != plan.tables:
        raise UsageError(
            f"{what} has other tables: the file has changed since. Use --replace to start over."
        )
    return found


@dataclasses.dataclass(frozen=True)
class Rest:
    """The remaining work of an interrupted load of several databases.

    Attributes:
        plans: A load of each incomplete database: with ``resume`` it continues from its own
            journal, without it starts with empty tables.
        whole: Names of the complete databases.
    """

    plans: tuple[LoadPlan, ...]
    whole: tuple[str, ...]


def rest(target: Target, plan: LoadPlan, names: Sequence[str]) -> Rest:
    """Returns the remaining load of the databases ``names``. ``plan`` applies to each of them.

    Databases load sequentially. Some are complete, at most one is interrupted, and the others hold
    nothing to reuse: they have no tables yet, or tables without a journal. The journal precedes the
    first row.

    Raises:
        UsageError: If nothing remains, nothing was started, the target does not support resuming,
            or the existing data or layout differs.
    """
    _require_able(target)
    plans: list[LoadPlan] = []
    states = {name: target.loaded(name) for name in names}
    for name, state in states.items():
        own = dataclasses.replace(plan, workload=name, resume=True)
        if state is not None and state.complete:
            workload, number = split(name)
            what = f"Database {number} of {workload} in {target.name}, which is complete,"
            _require_same(what, own, state, state.layout)
            continue
        begun = unfinished(target, name) is not None
        if begun:
            require(target, own)
        plans.append(dataclasses.replace(own, resume=begun))
    whole = tuple(name for name in names if not any(name == one.workload for one in plans))
    first = states[names[0]]
    if first is not None and not plans:
        raise _nothing_left(target, f"{len(names)} databases of {names[0]}", first)
    if not any(states.values()):
        raise UsageError(
            f"{target.name} holds no unfinished load of {names[0]} to resume. Remove --resume."
        )
    return Rest(tuple(plans), whole)


def forget_whole(target: Target, names: Sequence[str]) -> None:
    """Marks databases that will be replaced one after the other as incomplete.

    Otherwise an interrupted load would leave old databases, which transactions may have changed,
    marked as new ones.
    """
    for name in names:
        state = target.loaded(name)
        if state is not None and state.complete:
            target.mark(name, dataclasses.replace(state, complete=False))


def refuse_unfinished(target: Target, workload: str) -> None:
    """Stops a load if an unfinished load exists, and lists the options.

    Raises:
        UsageError: If there is one.
    """
    found = unfinished(target, workload)
    if found is not None:
        raise UsageError(
            f"{target.name} holds an unfinished load of {workload} at scale {found.scale:.15g} "
            f"({found.rows:,} rows in {found.parts} parts loaded). "
            "Use --resume to continue, or --replace to start over."
        )


def _require_able(target: Target) -> None:
    able = target.capabilities.resume
    if able is not True:
        raise UsageError(f"{target.name} cannot resume a load: {able}.")


def _nothing_left(target: Target, what: str, state: Loaded) -> UsageError:
    return UsageError(
        f"{target.name} holds {what} at scale {state.scale:.15g}, whole: there is "
        "nothing to resume. Give --replace to load it again."
    )


def _require_same(what: str, plan: LoadPlan, there: Unfinished | Loaded, layout: str) -> None:
    """Checks that the existing data and layout match the requested ones.

    The tables exist already, with the design of the first load.
    """
    for name, found, wanted in (
        ("scale", there.scale, plan.scale),
        ("seed", there.seed, plan.seed),
        ("days", there.days, plan.days),
    ):
        if found is not None and wanted is not None and found != wanted:
            # With `:g`, two long seeds would look the same.
            has, asks = (
                f"{one:.15g}" if isinstance(one, float) else one for one in (found, wanted)
            )
            raise UsageError(
                f"{what} has {name} {has}, not {asks}. "
                f"Use --{name} {has}, or --replace to start over."
            )
    own = Layout.model_validate_json(layout) if layout else None
    if not same_layout(plan.layout, layout):
        names = ["default" if item is None else item.name for item in (own, plan.layout)]
        other = f"layout {names[0]}, not {names[1]}"
        if names[0] == names[1]:
            other = f"another layout {names[0]} than the one given"
        raise UsageError(f"{what} has {other}. Remove --layout, or use --replace to start over.")


def same_layout(wanted: Layout | None, recorded: str) -> bool:
    """Whether tables with a recorded layout have the wanted one."""
    own = Layout.model_validate_json(recorded) if recorded else None
    return _bare(own) == _bare(wanted)


def _bare(layout: Layout | None) -> Layout | None:
    """Returns a layout without fields that do not affect the design: its notes and its source."""
    return None if layout is None else layout.model_copy(update={"notes": (), "source": ""})

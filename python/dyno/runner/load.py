"""The job of ``dyno load``: loads the data of a workload into a target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dyno import _core, targets, workloads
from dyno.contracts.databases import home_of
from dyno.contracts.layout import Layout
from dyno.contracts.sized import Sized
from dyno.contracts.target import LoadPlan, Made, Target
from dyno.errors import UsageError
from dyno.layouts import DEFAULT, volumes
from dyno.plans.loading import LoadingPlan
from dyno.runner import guests, stages
from dyno.runner import spread as places
from dyno.runner.ahead import of_load
from dyno.runner.databases import loads, names, require_databases
from dyno.runner.engine import confinement_of, settings_of
from dyno.runner.layout import Chosen, chosen_layout, unfinished_layout
from dyno.runner.session import Job, Session
from dyno.stages.load import loaded
from dyno.stages.resume import unfinished, unfinished_of
from dyno.targets.space import require_space, required_bytes
from dyno.workloads.rows import expected_rows
from dyno.workspace.engine_folders import make_out

_REMEDY = "Free space, or use a smaller --scale or another --out."


def job(asked: LoadingPlan) -> Job:
    """Turns the plan into a job. Starts and changes nothing.

    Raises:
        UsageError: If options are mutually exclusive, or the target does not support them.
        TargetError: If the target or a volume cannot be used.
    """
    chosen = workloads.named(asked.workload)
    home = workloads.get(home_of(chosen.name))
    workload, databases = home.name, asked.databases
    if not chosen.loads:
        raise UsageError(f"{asked.workload} has no tables; its statements use existing ones.")
    scale, days = chosen.parse_scale(asked.scale), chosen.parse_days(asked.days)
    asked.require_sense()
    parsed = targets.parse(asked.target)
    targets.require(parsed, asked.out, "load")
    chosen.setup(parsed.name)  # it may lack SQL for this target
    require_databases(parsed, asked.out, databases)
    confinement = confinement_of(asked, parsed)
    tuned = settings_of(asked, parsed, confinement)
    design = chosen_layout(asked.layout or DEFAULT, parsed, workload, scale, asked)
    raw = chosen.raw_bytes(scale, days) * design.share_here

    def check_space() -> None:
        if parsed.scheme != "embedded":
            return
        make_out(asked.out)
        # Of other loads, a part is there already, which only the target knows.
        if not (asked.resume or asked.replace or chosen.name != workload):
            require_space(asked.out, required_bytes({parsed.name: raw * databases}), _REMEDY)

    def body(session: Session) -> None:
        def before(target: Target) -> None:
            _core.prepare(workload)
            if isinstance(target, Made):
                target.before_load()
            # A resumed load uses the locations of the first load. Tables that may join those of
            # another workload leave the log where it is.
            adds = chosen.name != workload and design.wanted is None and not asked.replace
            if not (asked.resume or adds):
                places.prepare(asked, parsed)
                design.before_start(target)

        design.announce(session)
        with session.target(asked.target, before) as target:
            every = names(workload, databases)
            plans = _plans(asked, session, target, every, design.wanted)
            last = asked.replace or len(plans) > 1
            if last or not guests.stays(target, plans[-1], chosen.name, databases):
                rest = loads(session, target, plans[-1], databases, replace=last)
                if parsed.scheme == "embedded":
                    share = _share_here(plans[-1], design)
                    each = chosen.raw_bytes(scale, days) * share
                    _require_room(asked.out, parsed.name, target, rest, each)
                stages.compare_streams(session, target, plans[:-1], replace=asked.replace)
                for number, (plan, over) in enumerate(rest):
                    # All of them are replaced, or none of those that are complete.
                    others = every[1:] if number == 0 and last else ()
                    stages.load_and_prove(session, target, plan, replace=over, others=others)
            guests.add(session, target, chosen.name, databases)
        design.report(session)

    record = {
        "target": parsed.redacted,
        "scale": scale,
        "streams": list(asked.streams),
        "databases": databases,
        "seed": asked.seed,
        **({} if days is None else {"days": days}),
        "layout": design.layout.model_dump(mode="json", exclude_defaults=True),
        "resume": asked.resume,
        **chosen.record,
    }
    rows_only = max(0, len(asked.streams) - 1)
    parts = of_load(chosen, scale, parsed, loads=databases, rows_only=rows_only, days=days)
    return Job(
        asked, record, tuple(dict.fromkeys((workload, chosen.name))), asked.out, body, tuned,
        confinement, before=check_space, parts=parts,
    )  # fmt: skip


def _plans(
    asked: LoadingPlan,
    session: Session,
    target: Target,
    every: Sequence[str],
    wanted: Layout | None,
) -> list[LoadPlan]:
    """The loads of the first of the databases ``every``: one for each number of streams."""
    chosen = workloads.named(asked.workload)
    begun = unfinished_of(target, every) if asked.resume else None
    if asked.resume and asked.layout is None:
        wanted = unfinished_layout(session, target, every)
    default = max(2, session.limits.threads) if begun is None else begun.streams
    return [
        LoadPlan(
            every[0],
            chosen.parse_scale(asked.scale),
            asked.seed,
            count,
            resume=asked.resume,
            layout=wanted,
            days=chosen.parse_days(asked.days),
            tables=chosen.tables_digest,
        )
        for count in asked.streams or (default,)
    ]


def _share_here(plan: LoadPlan, design: Chosen) -> float:
    """Share of the data in the target's own folder; the rest is on volumes of the layout."""
    if plan.layout is None or plan.layout is design.wanted:
        return design.share_here
    return volumes.share_here(plan.layout, plan.scale, plan.days)


def _require_room(
    out: Path, name: str, target: Target, rest: Sequence[tuple[LoadPlan, bool]], raw_bytes: float
) -> None:
    """Rejects loads of ``raw_bytes`` each that exceed the free space of a private engine.

    Loaded rows of an interrupted load count as there, and replaced tables as free.

    Raises:
        DiskFullError: If the loads do not fit.
    """
    missing, freed = 0.0, 0
    for plan, replaces in rest:
        begun = unfinished(target, plan.workload) if plan.resume else None
        whole = sum(rows for rows, _ in expected_rows(plan.workload, loaded(plan)).values())
        done = begun.rows / whole if begun is not None and whole else 0.0
        missing += raw_bytes * max(0.0, 1.0 - done)
        held = target.loaded(plan.workload) if replaces else None
        if held is not None and isinstance(target, Sized):
            layout = Layout.model_validate_json(held.layout) if held.layout else None
            here = 1.0 if layout is None else volumes.share_here(layout, held.scale, held.days)
            freed += round(here * (target.data_bytes(plan.workload) or 0))
    require_space(out, required_bytes({name: missing}) - freed, _REMEDY)

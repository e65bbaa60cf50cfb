"""The job of ``dyno load``: loads the data of a workload into a target."""

from __future__ import annotations

from pathlib import Path

from dyno import _core, targets, workloads
from dyno.contracts.databases import home_of
from dyno.contracts.target import LoadPlan, Made, Target, TargetUrl
from dyno.errors import UsageError
from dyno.layouts import DEFAULT
from dyno.plans.loading import LoadingPlan
from dyno.runner import guests, stages
from dyno.runner import spread as places
from dyno.runner.ahead import of_load
from dyno.runner.databases import loads, names, require_databases
from dyno.runner.engine import confinement_of, settings_of
from dyno.runner.layout import chosen_layout, unfinished_layout
from dyno.runner.session import Job, Session
from dyno.stages.resume import unfinished_of
from dyno.targets.space import require_space, required_bytes
from dyno.workspace.engine_folders import make_out


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
        if parsed.scheme == "embedded":
            make_out(asked.out)
        if not asked.resume:
            _require_data_space(parsed, asked.out, raw * databases)

    def body(session: Session) -> None:
        def before(target: Target) -> None:
            _core.prepare(workload)
            if isinstance(target, Made):
                target.before_load()
            # A resumed load uses the locations of the first load.
            if not asked.resume:
                places.prepare(asked, parsed)
                design.before_start(target)

        design.announce(session)
        with session.target(asked.target, before) as target:
            every = names(workload, databases)
            begun = unfinished_of(target, every) if asked.resume else None
            wanted = design.wanted
            if asked.resume and asked.layout is None:
                wanted = unfinished_layout(session, target, every)
            default = max(2, session.limits.threads) if begun is None else begun.streams
            plans = [
                LoadPlan(
                    workload,
                    scale,
                    asked.seed,
                    count,
                    resume=asked.resume,
                    layout=wanted,
                    days=days,
                )
                for count in asked.streams or (default,)
            ]
            last = asked.replace or len(plans) > 1
            if last or not guests.stays(target, plans[-1], chosen.name, databases):
                stages.compare_streams(session, target, plans[:-1], replace=asked.replace)
                rest = loads(session, target, plans[-1], databases, replace=last)
                if asked.resume:
                    _require_data_space(parsed, asked.out, raw * len(rest))
                for plan, over in rest:
                    stages.load_and_prove(session, target, plan, replace=over)
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


def _require_data_space(url: TargetUrl, out: Path, raw_bytes: float) -> None:
    """Rejects data that exceeds the free space of a private engine.

    Raises:
        DiskFullError: If the data does not fit.
    """
    if url.scheme == "embedded":
        needed = required_bytes({url.name: raw_bytes})
        require_space(out, needed, "Free space, or use a smaller --scale or another --out.")

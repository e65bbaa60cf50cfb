"""``dyno load``: a workload's data into a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli import _limits, _settings, _spread
from dyno.cli._options import Options, common, databases_option, examples
from dyno.cli._strictly import SEED
from dyno.cli._work import conduct, typed

if TYPE_CHECKING:
    from dyno.contracts.target import TargetUrl
    from dyno.runner.spread import Spread

LAYOUT_HELP = "Physical design: a name of `dyno layouts`, or a TOML file."


@click.command(
    "load",
    short_help="Load a workload's data into a target.",
    epilog=examples(
        "dyno load tpch --target embedded:postgresql --scale 1",
        "dyno load tpcc --target embedded:postgresql --scale 10 --streams 4",
        "dyno load tpch --target duckdb:///tmp/dss.duckdb --scale 0.1",
        "dyno load tpch --target embedded:postgresql --scale 1 --resume",
        "dyno load tpch --target embedded:mysql --scale 1 --streams 1 --streams 2",
        "dyno load tpch --target embedded:postgresql --scale 1 --limit memory=1GB",
        "dyno load tpcc --target embedded:postgresql --scale 2 --databases 4",
        "dyno load tpcc --target embedded:postgresql --scale 2 --databases 4 --resume",
        "dyno load tpcc --target postgresql://bench@db1/bench --scale 100",
        "dyno load tpch --target embedded:postgresql --scale 1 --layout partitioned-8",
        "dyno load tpch --target embedded:postgresql --scale 1 \\",
        "  --layout partitioned-4 --volumes /mnt/a,/mnt/b,/mnt/c,/mnt/d",
    ),
)
@click.argument("workload")
@click.option("--target", "url", required=True, help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, required=True, help="Scale factor or warehouses.")
@click.option(
    "--streams",
    type=click.IntRange(1, 256),
    multiple=True,
    help="Parallel streams; repeat to compare rates. [default: CPUs]",
)
@databases_option
@click.option("--layout", show_default="default", help=LAYOUT_HELP)
@_spread.options
@click.option("--seed", type=SEED, default=1, show_default=True, help="Data seed.")
@click.option("--replace", is_flag=True, help="Replace tables that Dyno created earlier.")
@click.option("--resume", is_flag=True, help="Go on with a load that was cut off, in its layout.")
@_settings.options
@_limits.options
@common
def command(
    workload: str,
    url: str,
    scale: float,
    streams: tuple[int, ...],
    databases: int,
    layout: str | None,
    spread: Spread,
    seed: int,
    replace: bool,
    resume: bool,
    given: _settings.Given,
    bounds: _limits.Bounds,
    options: Options,
) -> int:
    """Generate the rows of WORKLOAD straight into a database, then add keys and indexes.

    Tables go to a schema of their own (dyno_tpch, dyno_tpcc). Tables that Dyno did not create
    are never touched. With several --streams the data is loaded afresh with each, and the last
    load stays. With --databases N there are N complete sets of tables, each in a schema of its own
    (dyno_tpcc, dyno_tpcc_2 …), for runs that work on all of them at once; --resume then loads those
    that are missing and goes on with the one that was cut off.
    """
    from dyno import _core, targets, workloads
    from dyno.contracts.target import LoadPlan, Made, Target
    from dyno.layouts import DEFAULT
    from dyno.runner import stages
    from dyno.runner.databases import loads, names, require_databases
    from dyno.runner.layout import chosen_layout, unfinished_layout
    from dyno.runner.session import Job, Session
    from dyno.stages.resume import unfinished_of
    from dyno.workspace.engine_folders import make_out

    chosen = workloads.named(workload)
    scale = chosen.parse_scale(scale)
    _require_sense(streams, databases, resume=resume, replace=replace, spread=spread.asked)
    parsed = targets.parse(url)
    targets.require(parsed, options.out, "load")
    require_databases(parsed, options.out, databases)
    confinement = bounds.of(parsed, options.out)
    asked = (given.of(parsed, options.out, confinement), confinement)
    design = chosen_layout(layout or DEFAULT, parsed, workload, scale, options.out, spread)
    raw = chosen.bytes_per_scale * scale * design.share_here
    if parsed.scheme == "embedded" and not options.rehearsed:
        make_out(options.out)
    if not resume and not options.rehearsed:
        _require_room(parsed, options.out, raw * databases)

    def body(session: Session) -> None:
        def before(target: Target) -> None:
            _core.prepare(workload)
            if isinstance(target, Made):
                target.before_load()
            # A load that goes on finds everything where the first one has put it.
            if not resume:
                spread.prepare(parsed, options.out)
                design.before_start(target)

        design.announce(session)
        with session.target(url, before) as target:
            every = names(workload, databases)
            begun = unfinished_of(target, every) if resume else None
            wanted = design.wanted
            if resume and layout is None:
                wanted = unfinished_layout(session, target, every)
            default = max(2, session.limits.threads) if begun is None else begun.streams
            plans = [
                LoadPlan(workload, scale, seed, count, resume=resume, layout=wanted)
                for count in streams or (default,)
            ]
            stages.compare_streams(session, target, plans[:-1], replace=replace)
            last = replace or len(plans) > 1
            rest = loads(session, target, plans[-1], databases, replace=last)
            if resume:
                _require_room(parsed, options.out, raw * len(rest))
            for plan, over in rest:
                stages.load_and_prove(session, target, plan, replace=over)
        design.tell(session)

    record = {
        "target": parsed.redacted,
        "scale": scale,
        "streams": list(streams),
        "databases": databases,
        "seed": seed,
        "layout": design.layout.model_dump(mode="json", exclude_defaults=True),
        "resume": resume,
    }
    out = options.out
    return conduct(Job("load", out, record, typed(), (workload,), out, body, *asked), options)


def _require_sense(
    streams: tuple[int, ...], databases: int, *, resume: bool, replace: bool, spread: bool
) -> None:
    """Refuses options that exclude each other.

    Raises:
        UsageError: Saying which.
    """
    from dyno.errors import UsageError

    if resume and (replace or len(streams) > 1):
        raise UsageError("--resume goes on with one load: give neither --replace nor more streams.")
    if resume and spread:
        raise UsageError("--resume goes on where the load lies: leave out --volumes and --spread.")
    if len(set(streams)) < len(streams):
        raise UsageError("Give each number of --streams once.")
    if databases > 1 and len(streams) > 1:
        raise UsageError("--databases takes one number of --streams.")


def _require_room(url: TargetUrl, out: Path, raw_bytes: float) -> None:
    """Refuses what a private engine has no room for.

    Raises:
        DiskFullError: If it cannot fit.
    """
    from dyno.targets.space import require_space, required_bytes

    if url.scheme == "embedded":
        needed = required_bytes({url.name: raw_bytes})
        require_space(out, needed, "Free some, or give a smaller --scale or another --out.")

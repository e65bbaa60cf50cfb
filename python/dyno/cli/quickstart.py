"""``dyno quickstart``: everything once, on embedded engines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli._options import Options, common, examples
from dyno.cli._work import conduct, typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dyno.contracts.target import LoadPlan, Target
    from dyno.runner.session import Session

TPCH, TPCC = "tpch", "tpcc"
ROW, COLUMN = "embedded:postgresql", "embedded:duckdb"
USERS = (1, 4, 16)
SCALES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.01)
GIB = 1 << 30


@dataclass(frozen=True)
class Sizes:
    """How much quickstart does of everything."""

    io_file_bytes: int
    io_step_s: float
    scale: float
    warehouses: int
    warmup_s: float
    duration_s: float

    def space(self) -> int:
        """Bytes needed at the peak."""
        from dyno import workloads
        from dyno.targets.space import required_bytes

        tpch = workloads.get(TPCH).bytes_per_scale * self.scale
        tpcc = workloads.get(TPCC).bytes_per_scale * self.warehouses
        return required_bytes({"postgresql": tpch + tpcc, "duckdb": tpch}, self.io_file_bytes)


@click.command(
    "quickstart",
    short_help="Everything once, on embedded engines.",
    epilog=examples(
        "dyno quickstart                 about 3 minutes",
        "dyno quickstart --quick         under a minute, small data",
        "dyno quickstart --scale 10      ten times the decision-support data",
        "dyno quickstart --dry-run       what it would do, and the space it needs",
    ),
)
@click.option("--scale", type=float, help="TPC-H scale factor.  [default: 1, less if short]")
@click.option("--quick", is_flag=True, help="Small data and short measurements: under a minute.")
@click.option("--replace", is_flag=True, help="Replace data that was loaded by `dyno load`.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@common
def command(
    scale: float | None,
    quick: bool,
    replace: bool,
    dry_run: bool,
    options: Options,
) -> int:
    """Measure this machine: storage, then decision support and transactions on private engines.

    Profiles the storage under --out, loads TPC-H-derived data into a private PostgreSQL and
    DuckDB, runs the 22 queries on both and compares the answers, drives TPC-C-derived
    transactions with 1, 4 and 16 users, and writes one HTML sheet. Nothing outside --out is
    touched, and no server is left running. Data that an earlier quickstart loaded there is made
    anew; what `dyno load` loaded at another scale or in a layout stays unless --replace is given.
    """
    from dyno.config.units import bytes_text
    from dyno.runner.session import Job
    from dyno.targets.space import require_space

    place = _existing_parent(options.out)
    sizes = choose(scale, quick, place)
    if dry_run:
        _tell(sizes, options.out, bytes_text(sizes.space()))
        return 0
    require_space(place, sizes.space(), "Free some, or give a smaller --scale or another --out.")
    plan: dict[str, Any] = {"quick": quick, "users": list(USERS), **vars(sizes)}
    job = Job(
        "quickstart",
        options.out,
        plan,
        typed(),
        (TPCH, TPCC),
        options.out,
        lambda session: _body(session, sizes, replace=replace),
    )
    return conduct(job, options)


def choose(scale: float | None, quick: bool, place: Path) -> Sizes:
    """Sizes that fit the disk and the memory; an explicit scale is taken as it is.

    Raises:
        UsageError: If the scale is absurd.
    """
    import shutil

    import psutil

    from dyno import workloads
    from dyno.servers.volume import rounded

    free = shutil.disk_usage(place).free
    # In steps of powers of two, so that what else happens on the disk does not change it.
    io_file = min(int((0.5 if quick else 4) * GIB), rounded(free // 4))

    def sizes(factor: float) -> Sizes:
        if quick:
            return Sizes(io_file, 0.4, factor, 1, 1.0, 4.0)
        return Sizes(io_file, 1.5, factor, 5, 5.0, 15.0)

    if scale is not None:
        return sizes(workloads.get(TPCH).parse_scale(scale))
    most = 0.1 if quick else 1.0
    # A gigabyte of memory a scale factor: below it the load's and sorts' caps get in the way.
    memory = psutil.virtual_memory().total / 2e9
    fitting = [
        factor
        for factor in SCALES
        if factor <= most and factor <= memory and sizes(factor).space() <= free
    ]
    return sizes(fitting[0] if fitting else SCALES[-1])


def _body(session: Session, sizes: Sizes, *, replace: bool) -> None:
    from dyno import profiles
    from dyno.contracts.target import Loaded, LoadPlan
    from dyno.profiles import spec, volume
    from dyno.runner import stages
    from dyno.runner.again import Again
    from dyno.stages.drive import OltpPlan, PowerPlan, interval_for
    from dyno.stages.profile import IoPlan

    again = Again(session)
    out, threads = session.out, session.limits.threads
    power = PowerPlan(TPCH, sizes.scale)
    streams = max(2, threads)
    dss = LoadPlan(TPCH, sizes.scale, seed=1, streams=streams)
    oltp = LoadPlan(TPCC, sizes.warehouses, seed=1, streams=streams)
    if not replace:
        for url, plans in ((ROW, (dss, oltp)), (COLUMN, (dss,))):
            _require_own(session, url, plans)
    look = spec.read(profiles.DEFAULT).fitted(sizes.io_file_bytes, sizes.io_step_s)
    profile = IoPlan(volume.parse([str(out)]), look)
    again(lambda: stages.storage(session, profile))
    with session.target(ROW) as row:
        again(lambda: _load(session, row, dss))
        results = {row.name: again(lambda: stages.power(session, row, power))}
        with session.target(COLUMN) as column:
            again(lambda: _load(session, column, dss))
            results[column.name] = again(lambda: stages.power(session, column, power))
        stages.answers(session, power, results)
        again(lambda: _load(session, row, oltp))
        loaded = Loaded(oltp.scale, oltp.seed, complete=True)
        plans = [
            OltpPlan(
                TPCC,
                loaded,
                users,
                sizes.warmup_s,
                sizes.duration_s,
                seed=users,
                interval_s=interval_for(sizes.duration_s),
            )
            for users in USERS
        ]
        for plan in plans:
            again(lambda plan=plan: stages.level(session, row, plan))
        stages.consistency(session, row, plans[0])


def _load(session: Session, target: Target, plan: LoadPlan) -> None:
    """Loads and proves, and notes before that the data is quickstart's own."""
    from dyno.runner import stages
    from dyno.workspace import engine_folders

    engine_folders.remember(session.out, target.name, plan.workload, (plan.scale, plan.seed))
    stages.load_and_prove(session, target, plan, replace=True)


def _require_own(session: Session, url: str, plans: Sequence[LoadPlan]) -> None:
    """Passes if an engine holds nothing that quickstart did not load, or would load just so.

    Raises:
        UsageError: Naming what is loaded.
    """
    from dyno import targets
    from dyno.errors import UsageError
    from dyno.workspace import engine_folders

    parsed, out = targets.parse(url), session.out
    name = parsed.name
    if not any(home.name == name for home in engine_folders.homes(out)[0]):
        return  # it was never started here
    own = engine_folders.remembered(out, name)
    with (
        session.events.phase(f"Look at what {name} holds"),
        targets.open_target(parsed, out, session.limits) as target,
    ):
        for plan in plans:
            found = target.loaded(plan.workload)
            # Tables of scale 0 are empty: their load ended before the first row.
            if found is None or not found.scale:
                continue
            content = [found.scale, found.seed]
            if found.layout or content not in (own.get(plan.workload), [plan.scale, plan.seed]):
                raise UsageError(
                    f"{url} in {out} holds {plan.workload} data of scale {found.scale:g} that "
                    "quickstart did not load. Give --replace to replace it, or another --out DIR."
                )


def _existing_parent(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def _tell(sizes: Sizes, out: Path, space: str) -> None:
    from dyno.config.units import bytes_text

    click.echo(f"Would work in {out} and need up to {space} there:")
    click.echo(f"  profile the storage with a test file of {bytes_text(sizes.io_file_bytes)}")
    click.echo(f"  load TPC-H-derived data, scale {sizes.scale:g}, into PostgreSQL and DuckDB")
    click.echo("  run the 22 queries on both and compare the answers")
    click.echo(f"  load TPC-C-derived data, {sizes.warehouses} warehouses, into PostgreSQL")
    click.echo(f"  drive it with {', '.join(map(str, USERS))} users, {sizes.duration_s:g} s each")
    click.echo("Would replace the tables of an earlier quickstart there, and nothing else.")

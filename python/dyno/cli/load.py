"""``dyno load``: a workload's data into a target."""

from __future__ import annotations

from typing import Any

import click

from dyno.cli import _limits, _settings, _spread
from dyno.cli._options import Options, chosen, common, databases_option, examples
from dyno.cli._strictly import SEED
from dyno.cli._work import conduct
from dyno.plans.loading import STREAMS, LoadingPlan

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
@click.option("--target", required=True, help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, required=True, help="Scale factor or warehouses.")
@click.option(
    "--streams",
    type=click.IntRange(*STREAMS),
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
def command(options: Options, **given: Any) -> int:
    """Generate the rows of WORKLOAD straight into a database, then add keys and indexes.

    Tables go to a schema of their own (dyno_tpch, dyno_tpcc). Tables that Dyno did not create
    are never touched. With several --streams the data is loaded afresh with each, and the last
    load stays. With --databases N there are N complete sets of tables, each in a schema of its own
    (dyno_tpcc, dyno_tpcc_2 …), for runs that work on all of them at once; --resume then loads those
    that are missing and goes on with the one that was cut off.
    """
    from dyno.runner.load import job

    return conduct(job(chosen(LoadingPlan, options, given)), options)

"""``dyno load``: loads a workload's data into a target."""

from __future__ import annotations

from typing import Any

import click

from dyno.cli import _elsewhere, _flash, _limits, _live, _settings, _spread
from dyno.cli._options import Options, chosen, common, databases_option, days_option, examples
from dyno.cli._strictly import SEED
from dyno.cli._work import conduct
from dyno.plans.loading import STREAMS, LoadingPlan
from dyno.safety import plainjson
from dyno.safety.text import shown

LAYOUT_HELP = (
    "Physical design: a name from `dyno layouts list`, or a TOML file.  [default: default]"
)


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
        "dyno load tpch --target embedded:mysql --scale 1 --databases 2",
        "dyno load tpcc --target postgresql://bench@db1/bench --scale 100",
        "dyno load ch --target embedded:postgresql --scale 1",
        "dyno load brokerage --target embedded:postgresql --scale 1 --days 30",
        "dyno load tpch --target embedded:postgresql --scale 1 --layout partitioned-8",
        "dyno load tpch --target embedded:postgresql --scale 1 \\",
        "  --layout partitioned-4 --volumes /mnt/a,/mnt/b,/mnt/c,/mnt/d",
        "dyno load tpch --target embedded:mysql --scale 1 --index orders:o_orderdate",
        "dyno load tpch --target mssql://bench@db1/master --scale 100 --dry-run",
        "dyno load tpcc --target embedded:postgresql --scale 10 --flash-log",
        "dyno load ycsb-a --target embedded:postgresql --scale 100",
    ),
)
@click.argument("workload")
@click.option(
    "--target", required=True, metavar="URL", help="URL of the database, or embedded:NAME."
)
@click.option(
    "--scale", type=float, required=True, help="Scale factor, warehouses, or 1,000 customers."
)
@days_option
@click.option(
    "--streams",
    type=click.IntRange(*STREAMS),
    multiple=True,
    help="Parallel load streams; repeat to compare.  [default: CPUs]",
)
@databases_option
@click.option("--layout", metavar="NAME|FILE", help=LAYOUT_HELP)
@click.option(
    "--index", metavar="TABLE:COLUMN,...", multiple=True,
    help="Index in addition to the layout; repeatable.",
)  # fmt: skip
@_spread.options
@_flash.of_load
@click.option("--seed", type=SEED, default=1, show_default=True, help="Data seed.")
@click.option("--replace", is_flag=True, help="Replace tables that Dyno created before.")
@click.option("--resume", is_flag=True, help="Resume an interrupted load, in its layout.")
@click.option(
    "--dry-run", is_flag=True, help="Show tables, layout and a server's statements, and exit."
)
@_elsewhere.options
@_settings.options
@_limits.options
@_live.option
@common
def command(options: Options, dry_run: bool, **given: Any) -> int:
    """Generate the rows of WORKLOAD directly into a database, then build keys and indexes.

    Tables are created in their own schema (dyno_tpch, dyno_tpcc …); ch uses those of tpcc and
    adds three. Dyno never touches tables that it did not create. With several --streams, the data
    is loaded once for each, and the last load stays. --databases N creates N complete sets of
    tables, each in its own schema (dyno_tpcc, dyno_tpcc_2, …), for runs against all of them at
    once; --resume then completes the interrupted one and loads the missing ones.

    --dry-run asks a server whether it supports the layout and the settings, and changes nothing.
    For SQL Server it prints the T-SQL of the load.
    """
    from dyno.runner.load import job
    from dyno.runner.preview import preview

    asked = chosen(LoadingPlan, options, given)
    if not dry_run:
        return conduct(job(asked), options)
    found = preview(asked)
    if options.as_json:
        head = {"run": None, "bundle": None, "valid": True, "reasons": []}
        click.echo(plainjson.dumps({**head, **found.document()}))
    else:
        click.echo(shown("\n".join(found.lines())))
    return 0

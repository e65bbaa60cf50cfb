"""``dyno quickstart``: measures storage, queries and transactions on private engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli import _live
from dyno.cli._options import Options, chosen, common, examples
from dyno.cli._work import conduct
from dyno.plans.quickstart import QuickstartPlan

if TYPE_CHECKING:
    from dyno.runner.quickstart import Sizes


@click.command(
    "quickstart",
    short_help="Measure everything once, on private engines.",
    epilog=examples(
        "dyno quickstart                 about 3 minutes",
        "dyno quickstart --quick         under a minute, small data",
        "dyno quickstart --scale 10      ten times the decision-support data",
        "dyno quickstart --dry-run       steps and disk space needed",
    ),
)
@click.option(
    "--scale", type=float, help="TPC-H scale factor.  [default: 1, or less if disk space is short]"
)
@click.option("--quick", is_flag=True, help="Small data and short measurements: under a minute.")
@click.option("--replace", is_flag=True, help="Replace data from `dyno load`.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and exit.")
@_live.option
@common
def command(options: Options, dry_run: bool, **given: Any) -> int:
    """Measure this machine: storage, decision support and transactions, on private engines.

    Profiles the storage under --out. Loads TPC-H-derived data into a private PostgreSQL and
    DuckDB, runs the 22 queries on both and compares the answers. Runs TPC-C-derived transactions
    with 1, 4 and 16 users. Writes one HTML report. Touches nothing outside --out and leaves no
    server running. Data of an earlier quickstart is replaced; data that `dyno load` loaded at
    another scale or in a layout stays unless --replace is given.
    """
    from dyno.runner.quickstart import job, sizes_of

    asked = chosen(QuickstartPlan, options, given)
    sizes = sizes_of(asked)
    if dry_run:
        _print_plan(sizes, options.out)
        return 0
    return conduct(job(asked, sizes), options)


def _print_plan(sizes: Sizes, out: Path) -> None:
    from dyno.config.units import bytes_text
    from dyno.runner.quickstart import USERS

    click.echo(f"Would use up to {bytes_text(sizes.space())} in {out}:")
    click.echo(f"  profile the storage with a test file of {bytes_text(sizes.io_file_bytes)}")
    click.echo(f"  load TPC-H-derived data, scale {sizes.scale:g}, into PostgreSQL and DuckDB")
    click.echo("  run the 22 queries on both and compare the answers")
    click.echo(f"  load TPC-C-derived data, {sizes.warehouses} warehouses, into PostgreSQL")
    click.echo(
        f"  run transactions with {', '.join(map(str, USERS))} users, {sizes.duration_s:g} s each"
    )
    click.echo("Would replace only the tables of an earlier quickstart there.")

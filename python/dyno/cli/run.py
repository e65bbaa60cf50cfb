"""``dyno run``: queries or transactions against loaded data."""

from __future__ import annotations

from typing import Any

import click

from dyno.cli import _criteria, _findmax, _limits, _rates, _settings
from dyno.cli._options import Options, chosen, common
from dyno.cli._run import beside as _beside
from dyno.cli._run import levels as _levels
from dyno.cli._run import queries as _queries
from dyno.cli._run import sections
from dyno.cli._run.examples import EXAMPLES
from dyno.cli._strictly import SEED
from dyno.cli._work import conduct
from dyno.errors import UsageError
from dyno.plans.run import RunPlan


@click.command(
    "run",
    cls=sections.SectionedCommand,
    short_help="Run a workload on a target.",
    epilog=EXAMPLES,
)
@click.argument("workload")
@click.option("--target", required=True, help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, help="Refuse to run unless this scale is loaded.")
@click.option("--seed", type=SEED, default=1, show_default=True)
@sections.TRANSACTIONS.of(_levels.options)
@sections.TRANSACTIONS.of(_rates.options)
@sections.CRITERIA.of(_criteria.options)
@sections.SEARCH.of(_findmax.options)
@sections.QUERIES.of(_queries.options)
@sections.MAINTENANCE.of(_beside.options)
@_settings.options
@_limits.options
@common
def command(options: Options, dry_run: bool, **given: Any) -> int:
    """Run WORKLOAD: the 22 queries of tpch, or tpcc transactions as N users.

    The power test runs the queries as one user, the throughput test as several at once, each with
    an order of its own; the refresh functions insert new orders and delete them again. A full
    test is refresh function 1, power test, refresh function 2, throughput test with refreshes:
    only with both functions is there a power, throughput and composite figure.

    Answers and consistency are proven every time; a run that fails the proof, or in which the
    client was the bottleneck, is marked invalid with the reason.

    With --during the work goes on for --duration, then the maintenance starts beside it, and after
    its end the work goes on for as long again: the sheet compares the three.

    With --databases each of the databases that `dyno load --databases` made has --users, all at
    the same time; the figures are those of their sum, and of each. A --rate is that of the sum:
    each database has an equal share of it, with gaps of its own.

    Each level of transactions must keep every --criterion: one that is not kept makes the exit
    code 1, but the run not invalid. The usual limits are judged and shown, too, and decide
    nothing. A limit without data is not judged.

    With --find-max the load grows until a limit breaks, the gap is narrowed to 5 %, and the
    largest load that keeps the limits is confirmed by a second window. Where nothing happens that
    an --slo limits, as no reads where all data is in memory, it is not judged and stops nothing;
    the run says so, and is not valid if no limit was judged at the maximum.
    """
    from dyno.runner.run import job

    asked = chosen(RunPlan, options, given)
    work = job(asked)
    if dry_run:
        if asked.find_max is None:
            raise UsageError("--dry-run is for --find-max.")
        click.echo("\n".join(work.outline))
        return 0
    return conduct(work, options)

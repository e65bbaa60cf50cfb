"""``dyno run``: runs queries or transactions against loaded data."""

from __future__ import annotations

from typing import Any

import click

from dyno.cli import _criteria, _elsewhere, _findmax, _flash, _limits, _live, _rates, _settings
from dyno.cli._options import Options, chosen, common, databases_option, print_outline
from dyno.cli._run import beside as _beside
from dyno.cli._run import levels as _levels
from dyno.cli._run import queries as _queries
from dyno.cli._run import sections
from dyno.cli._run import several as _several
from dyno.cli._run.examples import EXAMPLES
from dyno.cli._strictly import SEED, ByWorkload
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
@click.option(
    "--target",
    required=True,
    multiple=True,
    metavar="URL",
    help="URL of the database, or embedded:NAME; repeat to drive several at once.",
)
@click.option(
    "--scale",
    type=ByWorkload(click.FLOAT),
    multiple=True,
    metavar="[WORKLOAD=]N",
    help="Fail unless this scale is loaded.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Random seed.")
@databases_option
@sections.SEVERAL.of(_several.options)
@sections.TRANSACTIONS.of(_levels.options)
@sections.TRANSACTIONS.of(_rates.options)
@sections.CRITERIA.of(_criteria.options)
@sections.SEARCH.of(_findmax.options)
@sections.QUERIES.of(_queries.options)
@sections.MAINTENANCE.of(_beside.options)
@sections.FLASH.of(_flash.of_run)
@_elsewhere.options
@_settings.options
@_limits.options
@_live.option
@common
def command(options: Options, dry_run: bool, **given: Any) -> int:
    """Run WORKLOAD: queries (tpch, ch), transactions (tpcc, brokerage) or a FILE.toml.

    The 22 queries of ch use the tables of tpcc; the run adds three small ones that they need.

    The power test runs the queries in one stream. The throughput test runs several streams at
    once, each in its own query order. The refresh functions insert new orders and delete them
    again. A full test runs refresh function 1, the power test, refresh function 2, and the
    throughput test with refreshes. Power, throughput and composite metrics need both refresh
    functions.

    WORKLOAD can name several, such as tpcc+tpch: they start together and are
    measured over the same time. --users, --rate and --scale take WORKLOAD=VALUE for one of
    them. Queries run as streams that repeat until the transactions are over. With --alone, each
    also runs by itself, and the report gives the slowdown.

    With several --target, every workload runs on every target at once. The report shows each and
    the sum. If a target is lost, the others run to the end, and the exit code is 3.

    A run checks consistency, and answers where reference answers exist. It is invalid if these
    checks fail, or if the client was the bottleneck of transactions; the report gives the reason.

    A FILE.toml has your own statements (`dyno workloads list` shows examples, and
    docs/own-statements.md explains them). --dry-run prints each statement with drawn values.

    With --during, the workload runs for --duration, then during the maintenance task, then for
    --duration again. The report compares the three phases.

    With --databases, each database that `dyno load --databases` created gets --users, all at the
    same time. The report shows their sum and each database. --rate is the total rate; each database
    gets an equal share, with its own arrivals. Queries run as a throughput test: --users 6 are six
    streams in each database.

    Each level of transactions must pass every --criterion. A violation makes the exit code 1; the
    run stays valid. Default limits are informational. A limit without data is not checked.

    With --find-max, the load grows until a limit fails. A search then narrows the gap to 5 %, and
    a second window confirms the highest load that passes. An --slo without data, such as read
    latency when all data is in memory, is reported as not checked and does not stop the search. If
    no limit was checked at the maximum, the run is invalid.
    """
    from dyno.runner.run import job

    asked = chosen(RunPlan, options, given)
    work = job(asked)
    if dry_run:
        if not work.outline:
            raise UsageError(
                "--dry-run requires --find-max, a workload file, or several workloads or targets."
            )
        return print_outline(work.outline, options)
    if work.question and not options.yes and not click.confirm(work.question, err=True):
        click.echo("Nothing run.", err=True)
        return 0
    return conduct(work, options)

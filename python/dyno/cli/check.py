"""``dyno check``: verifies that loaded data is complete and consistent."""

from __future__ import annotations

from typing import Any

import click

from dyno.cli import _elsewhere, _live
from dyno.cli._options import Options, chosen, common, databases_option, examples
from dyno.cli._work import conduct
from dyno.plans.check import CheckPlan


@click.command(
    "check",
    short_help="Verify loaded data: row counts, answers, consistency.",
    epilog=examples(
        "dyno check tpcc --target embedded:postgresql",
        "dyno check tpch --target duckdb:///tmp/dss.duckdb",
        "dyno check tpch --target embedded:duckdb --answers",
        "dyno check tpcc --target embedded:postgresql --databases 4",
        "dyno check tpcc --target URL --isolation --level repeatable-read",
        "dyno check tpcc --target URL --isolation --databases 4",
    ),
)
@click.argument("workload")
@click.option(
    "--target", required=True, metavar="URL", help="URL of the database, or embedded:NAME."
)
@click.option("--scale", type=float, help="Fail unless this scale is loaded.")
@databases_option
@click.option("--answers", is_flag=True, help="Queries: also run them and verify their answers.")
@click.option(
    "--isolation",
    is_flag=True,
    help="tpcc, brokerage: also run the nine isolation scenarios.",
)
@click.option(
    "--level",
    metavar="NAME",
    help="Isolation level of the scenarios.  [default: the target's default]",
)
@_elsewhere.options
@_live.option
@common
def command(options: Options, **given: Any) -> int:
    """Verify the data of WORKLOAD in a target. Each failed condition is shown with its rows.

    tpch: row counts, keys and column sums; with --answers also the 22 queries, compared with the
    answers that Dyno ships for scale 0.01 and 1. tpcc: row counts of tables that never grow, and
    consistency conditions 1 to 10, 12 and 13 (11 holds only right after a load). brokerage: the
    same, conditions 1 to 11 and 14 to 17 (12 and 13 hold only right after a load). ch: its own
    three tables; with --answers the 22 queries, which have expected answers for one warehouse until
    transactions change it.

    --isolation runs overlapping sessions and verifies that no session sees uncommitted data and
    that no update is lost. What they commit stays, as after a run. The last three scenarios fail at
    read-committed; they need repeatable-read. With --databases N, all run in each database.
    """
    from dyno.runner.check import job

    return conduct(job(chosen(CheckPlan, options, given)), options)

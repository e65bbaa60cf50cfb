"""``dyno check``: is what is loaded whole and consistent?"""

from __future__ import annotations

from typing import Any

import click

from dyno.cli._options import Options, chosen, common, databases_option, examples
from dyno.cli._work import conduct
from dyno.plans.check import CheckPlan


@click.command(
    "check",
    short_help="Prove what is loaded: counts, answers, consistency.",
    epilog=examples(
        "dyno check tpcc --target embedded:postgresql",
        "dyno check tpch --target duckdb:///tmp/dss.duckdb",
        "dyno check tpch --target embedded:duckdb --answers",
        "dyno check tpcc --target embedded:postgresql --databases 4",
        "dyno check tpcc --target embedded:postgresql --isolation",
        "dyno check tpcc --target embedded:postgresql --isolation --databases 4",
        "dyno check tpcc --target URL --isolation --level repeatable-read",
    ),
)
@click.argument("workload")
@click.option("--target", required=True, help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, help="The scale that should be loaded.")
@databases_option
@click.option("--answers", is_flag=True, help="Ask all queries too, and prove their answers.")
@click.option("--isolation", is_flag=True, help="tpcc: also play the nine isolation scenarios.")
@click.option(
    "--level",
    metavar="NAME",
    help="Isolation level of their transactions.  [default: the target's own]",
)
@common
def command(options: Options, **given: Any) -> int:
    """Check the data of WORKLOAD in a target; every condition that fails is shown with its rows.

    tpch: row counts, keys and sums of columns; with --answers also the 22 queries, against the
    answers that Dyno ships for scale 0.01 and 1. tpcc: rows of the tables that transactions add
    none to, and consistency conditions 1 to 10 and 12 (11 holds only just after a load).

    With --isolation sessions that overlap prove that nobody sees what is not committed, and that no
    change is lost. The orders and payments that they commit stay, as after a run. At read-committed
    the last three scenarios cannot hold: they ask for repeatable-read. With --databases N they are
    played in each.
    """
    from dyno.runner.check import job

    return conduct(job(chosen(CheckPlan, options, given)), options)

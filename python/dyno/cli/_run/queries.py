"""Options of queries: which tests, with which parameters and caches, and what is kept of each."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.cli._strictly import TIME
from dyno.plans.queries import PARAMETERS, STREAMS, TESTS

options = declared(
    click.option(
        "--test",
        type=click.Choice(TESTS),
        help="One user, several at once, or both.  [default: power]",
    ),
    click.option(
        "--streams",
        type=click.IntRange(*STREAMS),
        help="Users of the throughput test, and beside --during.  [default: by scale, 2 at 1; "
        "beside --during without that test 1]",
    ),
    click.option(
        "--parameters",
        type=click.Choice(PARAMETERS),
        help="The fixed parameters, or drawn by --seed.  [default: validation for --test power, "
        "else seeded]",
    ),
    click.option(
        "--refresh/--no-refresh",
        default=None,
        help="Also insert and delete orders.  [default: not with --test power]",
    ),
    click.option("--no-warming", is_flag=True, help="Power test: measure the first pass."),
    click.option("--cold", is_flag=True, help="Begin with caches that are proven empty."),
    click.option("--cold-each-query", is_flag=True, help="Power test: so before each query."),
    click.option(
        "--timeout", type=TIME, default="10m", show_default=True, help="Give up a query after."
    ),
    click.option("--plans", is_flag=True, help="Keep the plan of each."),
    click.option("--analyse-plans", is_flag=True, help="Run each once more for its plan."),
    click.option(
        "--query-figures/--no-query-figures",
        default=None,
        help="Ask the engine what each query read, spilled and held: always, or never.  "
        "[default: not where that slows timed queries]",
    ),
)
"""Adds them."""

"""Options of queries: tests, parameters, caches and recorded data."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.cli._strictly import TIME
from dyno.plans.queries import PARAMETERS, STREAMS, TESTS

options = declared(
    click.option(
        "--test",
        type=click.Choice(TESTS),
        help="One stream, several at once, or both.  [default: power]",
    ),
    click.option(
        "--streams",
        type=click.IntRange(*STREAMS),
        help="Streams of the throughput test and of --during.  [default: by scale, 2 at scale 1; "
        "1 with --during alone]",
    ),
    click.option(
        "--parameters",
        type=click.Choice(PARAMETERS),
        help="Fixed validation parameters, or random ones from --seed.  [default: validation for "
        "--test power, else seeded]",
    ),
    click.option(
        "--refresh/--no-refresh",
        default=None,
        help="Run the refresh functions.  [default: off with --test power, else on]",
    ),
    click.option("--no-warming", is_flag=True, help="Power test: skip the warm-up pass."),
    click.option("--cold", is_flag=True, help="Start with empty caches, verified."),
    click.option(
        "--cold-each-query", is_flag=True, help="Power test: empty the caches before every query."
    ),
    click.option(
        "--timeout", type=TIME, default="10m", show_default=True, help="Time limit per query."
    ),
    click.option("--plans", is_flag=True, help="Save each query's plan."),
    click.option(
        "--analyse-plans", is_flag=True, help="Save plans with actual times (one more execution)."
    ),
    click.option(
        "--query-figures/--no-query-figures",
        default=None,
        help="Record bytes read, spilled and memory per query.  [default: off where that slows "
        "down timed queries]",
    ),
)
"""Adds the options."""

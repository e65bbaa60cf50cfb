"""``--find-max`` and what belongs to it."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.cli._strictly import TIME
from dyno.config.rates import MOST_PER_S
from dyno.plans.levels import USERS
from dyno.plans.searching import LOADS

options = declared(
    click.option(
        "--find-max",
        is_flag=False,
        flag_value="users",
        type=click.Choice(LOADS),
        help="Transactions: find the most users, or the highest rate, that keep every --slo.",
    ),
    click.option(
        "--slo",
        multiple=True,
        metavar="LIMIT",
        help="With --find-max: a limit, as 'new_order p95 < 500ms' or 'errors = 0'; repeat.  "
        "[default: the usual limits of --criterion]",
    ),
    click.option(
        "--max-users", type=click.IntRange(*USERS), help="With --find-max.  [default: 1024]"
    ),
    click.option(
        "--max-rate",
        type=click.FloatRange(0, MOST_PER_S, min_open=True),
        help="With --find-max rate: transactions a second.  [default: 1,000,000]",
    ),
    click.option("--time-limit", type=TIME, help="With --find-max: stop after.  [default: 30m]"),
    click.option("--dry-run", is_flag=True, help="With --find-max: only say what it would do."),
)
"""Adds ``--find-max`` and what belongs to it."""

"""``--find-max`` and its options."""

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
        help="Search for the most users, or the highest rate, that pass every --slo.",
    ),
    click.option(
        "--slo",
        multiple=True,
        metavar="LIMIT",
        help="With --find-max: a limit, such as 'new_order p95 < 500ms' or 'errors = 0'; "
        "repeatable.  [default: the default limits of --criterion]",
    ),
    click.option(
        "--max-users",
        type=click.IntRange(*USERS),
        help="With --find-max: upper bound.  [default: 1024]",
    ),
    click.option(
        "--max-rate",
        type=click.FloatRange(0, MOST_PER_S, min_open=True),
        help="With --find-max rate: upper bound, per second.  [default: 1,000,000]",
    ),
    click.option(
        "--time-limit",
        type=TIME,
        help="With --find-max: stop after this time.  [default: 30m; more with long windows]",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="With --find-max, a FILE.toml or several at once: show what it would do.",
    ),
)
"""Adds ``--find-max`` and its options."""

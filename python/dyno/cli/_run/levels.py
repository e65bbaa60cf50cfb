"""Options of transactions: how many users, where, for how long, and how they work."""

from __future__ import annotations

import click

from dyno.cli._options import databases_option, declared
from dyno.cli._strictly import TIME, TIME_OR_NONE
from dyno.plans.levels import HOMES, MODES, USERS

options = declared(
    click.option(
        "--users",
        type=click.IntRange(*USERS),
        multiple=True,
        help="Users; repeat for levels.  [default: 1]",
    ),
    databases_option,
    click.option(
        "--duration", type=TIME, help="Measured time a level.  [default: 60s; 15s with --find-max]"
    ),
    click.option(
        "--warmup",
        type=TIME_OR_NONE,
        default="5s",
        show_default=True,
        help="Time before measuring.",
    ),
    click.option(
        "--until-steady",
        type=TIME,
        metavar="LIMIT",
        help="Go on until a stretch as long as --duration is steady, at most so long.",
    ),
    click.option("--think", is_flag=True, help="Users key and think as the workload prescribes."),
    click.option(
        "--home",
        type=click.Choice(HOMES),
        default="random",
        show_default=True,
        help="Warehouse of a user: always one, one drawn each time, all in turn.",
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        default=MODES[0],
        show_default=True,
        help="Statements of the client, or procedures in the database.",
    ),
    click.option(
        "--reconnect",
        type=TIME,
        default="5s",
        show_default=True,
        help="Users who lose the server try that long to come back.",
    ),
)
"""Adds them."""

"""Options of transactions: users, duration, pacing and placement."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.cli._strictly import TIME, TIME_OR_NONE, ByWorkload
from dyno.plans.levels import HOMES, MODES, USERS

options = declared(
    click.option(
        "--users",
        type=ByWorkload(click.IntRange(*USERS)),
        multiple=True,
        metavar="[WORKLOAD=]N",
        help="Virtual users; repeat for several levels. For queries: streams of the "
        "throughput test.  [default: 1; for queries as --streams]",
    ),
    click.option(
        "--duration",
        type=TIME,
        help="Measured time per level.  [default: 60s; 15s with --find-max, with --think "
        "as --warmup]",
    ),
    click.option(
        "--warmup",
        type=TIME_OR_NONE,
        help="Warm-up time before each measurement.  [default: 5s; with --think three "
        "times the mean pause, such as 63s for tpcc]",
    ),
    click.option(
        "--until-steady",
        type=TIME,
        metavar="LIMIT",
        help="Extend until the last --duration is steady; give up after this long.",
    ),
    click.option("--think", is_flag=True, help="Use the workload's keying and think time."),
    click.option(
        "--home",
        type=click.Choice(HOMES),
        default="random",
        show_default=True,
        help="Warehouse per user: fixed, random per transaction, or all in turn.",
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        default=MODES[0],
        show_default=True,
        help="Client-side SQL statements or stored procedures.",
    ),
    click.option(
        "--confirm-limit",
        is_flag=True,
        help="Test the bottleneck: repeat the best level with its resource changed by 20 %. "
        "Private servers only.",
    ),
    click.option(
        "--reconnect",
        type=TIME,
        default="5s",
        show_default=True,
        help="How long users try to reconnect to a lost server.",
    ),
)
"""Adds the options."""

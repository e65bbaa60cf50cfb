"""Options of several workloads at once."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.plans.several import REPEATS, USUAL_REPEATS

options = declared(
    click.option(
        "--alone",
        is_flag=True,
        help="Also measure each workload by itself, in alternating order, and report the slowdown.",
    ),
    click.option(
        "--repeat",
        type=click.IntRange(*REPEATS),
        help=f"With --alone: repeat all of it.  [default: {USUAL_REPEATS}]",
    ),
)
"""Adds the options."""

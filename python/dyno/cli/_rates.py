"""``--rate``, ``--rate-file`` and ``--arrivals``: the open loop."""

from __future__ import annotations

from pathlib import Path

import click

from dyno.cli._options import declared
from dyno.plans.pace import ARRIVALS

_HELP = (
    "Open loop: transactions per second; 100,200,400 for steps, 100..900 for a ramp. Repeat for "
    "several levels."
)

options = declared(
    click.option("--rate", multiple=True, metavar="[WORKLOAD=]RATE", help=_HELP),
    click.option(
        "--rate-file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Open loop: CSV or TOML file with lines of seconds,rate, interpolated; with the "
        "header seconds,step each rate holds until the next.",
    ),
    click.option(
        "--arrivals",
        type=click.Choice(ARRIVALS),
        help="Open loop: random (poisson) or even (fixed) gaps between transactions of all users. "
        "Several databases take even starts in turn.  [default: poisson]",
    ),
)
"""Adds the three options."""

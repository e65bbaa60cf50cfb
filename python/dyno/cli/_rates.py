"""``--rate``, ``--rate-file`` and ``--arrivals``: when transactions start in an open loop."""

from __future__ import annotations

from pathlib import Path

import click

from dyno.cli._options import declared
from dyno.plans.pace import ARRIVALS

_HELP = (
    "Open loop: transactions a second; 100,200,400 for steps, 100..900 for a ramp. Repeat for "
    "levels."
)

options = declared(
    click.option("--rate", multiple=True, metavar="RATE", help=_HELP),
    click.option(
        "--rate-file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Open loop: lines of seconds,rate (CSV, or TOML), joined by ramps; under the header "
        "seconds,step each rate holds until the next.",
    ),
    click.option(
        "--arrivals",
        type=click.Choice(ARRIVALS),
        help="Open loop: gaps between the starts of all users together, random or even (fixed), "
        "whichever user is free; databases then take turns.  [default: poisson]",
    ),
)
"""Adds the three options."""

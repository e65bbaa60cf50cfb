"""``--volumes`` and ``--spread`` of a load: places for tables and partitions."""

from __future__ import annotations

import click

from dyno.cli._options import collected
from dyno.runner.spread import MOST, Spread

options = collected(
    Spread,
    "spread",
    click.option(
        "--volumes",
        metavar="A,B,…",
        help="Folders, or tablespace:NAME, that tables and partitions go to in turn.",
    ),
    click.option(
        "--spread",
        type=click.IntRange(1, MOST),
        metavar="N",
        help="How many of the --volumes; without them folders beside the embedded engine.",
    ),
)
"""Adds them, and passes them as ``spread``."""

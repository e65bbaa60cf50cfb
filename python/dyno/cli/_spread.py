"""``--volumes`` and ``--spread`` of a load: places for tables and partitions."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.plans.loading import MOST_VOLUMES

options = declared(
    click.option(
        "--volumes",
        metavar="A,B,…",
        help="Folders, or tablespace:NAME, that tables and partitions go to in turn.",
    ),
    click.option(
        "--spread",
        type=click.IntRange(1, MOST_VOLUMES),
        metavar="N",
        help="How many of the --volumes; without them folders beside the embedded engine.",
    ),
)
"""Adds them."""

"""``--volumes`` and ``--spread``: where a load puts tables and partitions."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.plans.loading import MOST_VOLUMES

options = declared(
    click.option(
        "--volumes",
        metavar="A,B,…",
        help="Folders, or tablespace:NAME; tables and partitions are placed round-robin.",
    ),
    click.option(
        "--spread",
        type=click.IntRange(1, MOST_VOLUMES),
        metavar="N",
        help="Number of --volumes to use; without --volumes, folders next to the private engine.",
    ),
)
"""Adds ``--volumes`` and ``--spread``."""

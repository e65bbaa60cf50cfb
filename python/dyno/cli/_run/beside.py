"""Options of maintenance beside the work."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.cli._strictly import TIME
from dyno.plans.levels import DATABASES

options = declared(
    click.option("--during", metavar="NAME", help="integrity-check, reindex, backup or vacuum."),
    click.option(
        "--during-limit", type=TIME, default="1h", show_default=True, help="Stop that after."
    ),
    click.option(
        "--during-database",
        type=click.IntRange(*DATABASES),
        help="Of several --databases, the one that it works on.  [default: 1]",
    ),
)
"""Adds them."""

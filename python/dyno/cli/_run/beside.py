"""Options of maintenance during a run."""

from __future__ import annotations

import click

from dyno.cli._options import declared
from dyno.cli._strictly import TIME
from dyno.plans.levels import DATABASES

options = declared(
    click.option(
        "--during",
        metavar="TASK",
        help="Run a maintenance task: integrity-check, quick-check, reindex, backup, vacuum, "
        "sliding-window or create-database.",
    ),
    click.option(
        "--during-limit",
        type=TIME,
        default="1h",
        show_default=True,
        help="Stop the maintenance task after this time.",
    ),
    click.option(
        "--during-database",
        type=click.IntRange(*DATABASES),
        help="With several --databases: the one to maintain.  [default: 1]",
    ),
    click.option(
        "--estimate-only",
        is_flag=True,
        help="Estimate the extra space of the task; run neither it nor the workload.",
    ),
)
"""Adds ``--during`` and its options."""

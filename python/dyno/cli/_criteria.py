"""``--criterion`` and ``--no-criteria``: pass/fail limits for each level of a run."""

from __future__ import annotations

import click

from dyno.cli._options import declared

options = declared(
    click.option(
        "--criterion",
        multiple=True,
        metavar="LIMIT",
        help="Limit that every level must pass, such as 'new_order p95 < 500ms' or 'cpu < 70 %'; "
        "repeatable. A violation makes the exit code 1. It replaces the default limit on that "
        "metric; default limits are informational.  [default: response p95 < 2 s, cpu < 80 %, "
        "retransmits < 0.5 %, data_read and data_write < 20 ms, log_write < 5 ms]",
    ),
    click.option(
        "--no-criteria", is_flag=True, help="Skip the default limits; check only --criterion."
    ),
)
"""Adds ``--criterion`` and ``--no-criteria``."""

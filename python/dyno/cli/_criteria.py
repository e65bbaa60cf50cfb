"""``--criterion`` and ``--no-criteria``: limits that the levels of a run are judged by."""

from __future__ import annotations

import click

from dyno.cli._options import declared

options = declared(
    click.option(
        "--criterion",
        multiple=True,
        metavar="LIMIT",
        help="Transactions: a limit to keep, or else the exit code is 1, as 'new_order p95 < "
        "500ms' or 'cpu < 70 %'; repeat. It takes the place of the usual limit on that metric; "
        "those are only shown.  [usual: response p95 < 2 s, cpu < 80 %, retransmits < 0.5 %, "
        "data_read and data_write < 20 ms, log_write < 5 ms]",
    ),
    click.option(
        "--no-criteria", is_flag=True, help="Without the usual limits; only those of --criterion."
    ),
)
"""Adds them."""

"""Options of maintenance beside the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from dyno.cli._options import collected, parse_seconds
from dyno.cli._strictly import TIME
from dyno.contracts import databases


@dataclass(frozen=True)
class Beside:
    """What the command line holds of maintenance, unread."""

    during: str | None
    during_limit: str
    during_database: int | None

    def record(self) -> dict[str, Any]:
        """For the plan of the bundle.

        Raises:
            UsageError: If there is no such maintenance or time.
        """
        from dyno.contracts import maintenance

        return {
            "during": None if self.during is None else maintenance.parse(self.during),
            "during_limit_s": parse_seconds(self.during_limit),
            "during_database": self.during_database,
        }


options = collected(
    Beside,
    "beside",
    click.option("--during", metavar="NAME", help="integrity-check, reindex, backup or vacuum."),
    click.option(
        "--during-limit", type=TIME, default="1h", show_default=True, help="Stop that after."
    ),
    click.option(
        "--during-database",
        type=click.IntRange(1, databases.MOST),
        help="Of several --databases, the one that it works on.  [default: 1]",
    ),
)
"""Adds them, and passes them as ``beside``."""

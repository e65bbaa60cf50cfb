"""Maintenance beside the work."""

from __future__ import annotations

from typing import Annotated, Any

from dyno.config.units import parse_seconds
from dyno.contracts import maintenance
from dyno.plans.fields import Plan, Text, Time, within
from dyno.plans.levels import DATABASES


class Beside(Plan):
    """Maintenance beside the work.

    Attributes:
        during: ``integrity-check``, ``reindex``, ``backup`` or ``vacuum``.
        during_limit: When it is stopped.
        during_database: Of several databases, the one that it works on.
    """

    during: Text | None = None
    during_limit: Time = "1h"
    during_database: Annotated[int, within(*DATABASES)] | None = None

    def beside_record(self) -> dict[str, Any]:
        """For the plan of the bundle.

        Raises:
            UsageError: If the maintenance task is unknown.
        """
        return {
            "during": None if self.during is None else maintenance.parse(self.during),
            "during_limit_s": parse_seconds(self.during_limit),
            "during_database": self.during_database,
        }

"""Maintenance during a run."""

from __future__ import annotations

from typing import Annotated, Any

from dyno.config.units import parse_seconds
from dyno.contracts import maintenance
from dyno.plans.fields import Plan, Text, Time, within
from dyno.plans.levels import DATABASES


class Beside(Plan):
    """Maintenance during a run.

    Attributes:
        during: A task of ``dyno.contracts.maintenance``.
        during_limit: Time after which it is stopped.
        during_database: The database to maintain, if there are several.
        estimate_only: Estimate the task's extra space, and run nothing.
    """

    during: Text | None = None
    during_limit: Time = "1h"
    during_database: Annotated[int, within(*DATABASES)] | None = None
    estimate_only: bool = False

    def beside_record(self) -> dict[str, Any]:
        """The fields for ``plan`` in the bundle.

        Raises:
            UsageError: If the maintenance task is unknown.
        """
        return {
            "during": None if self.during is None else maintenance.parse(self.during),
            "during_limit_s": parse_seconds(self.during_limit),
            "during_database": self.during_database,
            "estimate_only": self.estimate_only,
        }

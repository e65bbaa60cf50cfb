"""Everything once, on embedded engines."""

from __future__ import annotations

from typing import ClassVar

from dyno.plans.fields import Plan


class QuickstartPlan(Plan):
    """What ``dyno quickstart`` is asked for.

    Attributes:
        scale: TPC-H scale factor; None for the largest usual one that fits.
        quick: Small data and short measurements.
        replace: Whether data that ``dyno load`` loaded is replaced.
    """

    verb: ClassVar[str] = "quickstart"

    scale: float | None = None
    quick: bool = False
    replace: bool = False

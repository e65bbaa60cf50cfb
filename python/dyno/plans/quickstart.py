"""A measurement of everything once, on private engines."""

from __future__ import annotations

from typing import ClassVar

from dyno.plans.fields import Plan


class QuickstartPlan(Plan):
    """A plan for ``dyno quickstart``.

    Attributes:
        scale: TPC-H scale factor; None for the largest default one that fits.
        quick: Small data and short measurements.
        replace: Whether to replace data from ``dyno load``.
    """

    verb: ClassVar[str] = "quickstart"

    scale: float | None = None
    quick: bool = False
    replace: bool = False

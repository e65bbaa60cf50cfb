"""Criteria: what each came to at each level."""

from __future__ import annotations

from dyno.bundle.metrics.base import Metric, Scope


class Criterion(Scope, names=r"criterion\.(?P<level>[^.]+)\.(?P<criterion>.+)"):
    """A criterion, in its normal form, at a level. Values have the criterion's unit."""

    value = Metric(None)
    worst = Metric(None)
    """Of the interval that comes nearest to the wrong side, or goes furthest beyond."""
    worst_t_ns = Metric("ns")
    failing = Metric()
    intervals = Metric()
    missing = Metric()
    """It cannot be judged, for the reason that is the source."""
    idle = Metric()
    """The same, as nothing happened that it limits."""

    def __init__(self, level: str, criterion: object) -> None:
        super().__init__(f"criterion.{level}.{criterion}")

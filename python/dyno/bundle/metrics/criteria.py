"""Criteria: result per level."""

from __future__ import annotations

from dyno.bundle.metrics.base import Metric, Scope


class Criterion(Scope, names=r"criterion\.(?P<level>[^.]+)\.(?P<criterion>.+)"):
    """A criterion, in its normal form, at a level. Values have the unit of the criterion."""

    value = Metric(None)
    worst = Metric(None)
    """Value of the worst interval against the limit."""
    worst_t_ns = Metric("ns")
    failing = Metric()
    intervals = Metric()
    missing = Metric()
    """The criterion cannot be evaluated. The source holds the reason."""
    idle = Metric()
    """Same as ``missing``, because no limited operation occurred."""

    def __init__(self, level: str, criterion: object) -> None:
        super().__init__(f"criterion.{level}.{criterion}")

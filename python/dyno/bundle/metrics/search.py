"""The maximum load within limits, as found by a search."""

from __future__ import annotations

from dyno.bundle.metrics.base import Metric, Metrics, Scope
from dyno.bundle.metrics.oltp import TIMES


class CapacityOperation(Scope, names=r"capacity\.(?P<operation>[^.]+)"):
    """A transaction type at the maximum load."""

    response = Metrics("ms", "response_{}_ms", TIMES)


class Capacity(Scope, names="capacity"):
    """The maximum load within the limits, and its metrics."""

    users = Metric()
    rate = Metric("1/s")
    tps = Metric("1/s")
    per_min = Metrics[str]("1/min", "{}_per_min")

    def __init__(self) -> None:
        super().__init__("capacity")

    def operation(self, name: str) -> CapacityOperation:
        """Returns the scope of a transaction type."""
        return CapacityOperation(f"{self}.{name}")

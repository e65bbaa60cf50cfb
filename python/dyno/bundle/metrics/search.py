"""The most load inside limits, as a search found it."""

from __future__ import annotations

from dyno.bundle.metrics.base import Metric, Metrics, Scope
from dyno.bundle.metrics.oltp import TIMES


class CapacityOperation(Scope, names=r"capacity\.(?P<operation>[^.]+)"):
    """One kind of transaction at the maximum."""

    response = Metrics("ms", "response_{}_ms", TIMES)


class Capacity(Scope, names="capacity"):
    """The largest load that kept the limits, and what was measured at it."""

    users = Metric()
    rate = Metric("1/s")
    tps = Metric("1/s")
    per_min = Metrics[str]("1/min", "{}_per_min")

    def __init__(self) -> None:
        super().__init__("capacity")

    def operation(self, name: str) -> CapacityOperation:
        """One of its kinds of transactions."""
        return CapacityOperation(f"{self}.{name}")

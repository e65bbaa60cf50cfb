"""Loads, and the keys and indexes after them."""

from __future__ import annotations

from dyno.bundle.metrics.base import Metric, Scope
from dyno.bundle.model import Phase

_INTO = r"\.(?P<workload>[^.]+)\.(?P<target>[^.]+)"


class Load(Scope, names=rf"load{_INTO}"):
    """Rows that were loaded."""

    seconds = Metric("s")
    rows = Metric("rows")
    bytes = Metric("B")
    """As sent."""
    rest_bytes = Metric("B")
    """Room that tables and rows took, before keys and indexes."""
    rows_per_s = Metric("rows/s")
    mb_per_s = Metric("MB/s")
    gb_per_h = Metric("GB/h")

    def __init__(self, workload: str, target: str | None) -> None:
        super().__init__(f"load.{workload}.{target}")


class Step(Scope, names=rf"index{_INTO}\.(?P<step>[^.]+)"):
    """Steps of a kind after a load, such as all indexes."""

    seconds = Metric("s")
    rest_bytes = Metric("B")
    """Room that they left taken."""
    peak_bytes = Metric("B")
    """The most room that one of them took meanwhile."""
    peak_ratio = Metric("×")
    """The same, of the size of its table."""


class Index(Scope, names=rf"index{_INTO}"):
    """Keys, indexes and statistics after a load."""

    seconds = Metric("s")

    def __init__(self, workload: str, target: str | None) -> None:
        super().__init__(f"index.{workload}.{target}")

    def step(self, kind: str) -> Step:
        """Its steps of a kind."""
        return Step(f"{self}.{kind.replace(' ', '_')}")


def loaded(phase: Phase) -> str:
    """The workload of a load or of its indexes: ``tpch`` of the phase ``load-tpch-postgresql``."""
    return phase.name.removeprefix(f"{phase.kind}-").removesuffix(f"-{phase.target}")

"""Loads, with keys and indexes."""

from __future__ import annotations

from dyno.bundle.metrics.base import Metric, Scope
from dyno.bundle.model import Phase

_INTO = r"\.(?P<workload>[^.]+)\.(?P<target>[^.]+)"


class Load(Scope, names=rf"load{_INTO}"):
    """The rows of a load."""

    seconds = Metric("s")
    rows = Metric("rows")
    bytes = Metric("B")
    """Bytes sent."""
    rest_bytes = Metric("B")
    """Space of tables and rows, before keys and indexes."""
    rows_per_s = Metric("rows/s")
    mb_per_s = Metric("MB/s")
    gb_per_h = Metric("GB/h")

    def __init__(self, workload: str, target: str | None) -> None:
        super().__init__(f"load.{workload}.{target}")


class Step(Scope, names=rf"index{_INTO}\.(?P<step>[^.]+)"):
    """Load steps of one kind, such as all indexes."""

    seconds = Metric("s")
    rest_bytes = Metric("B")
    """Space used after the steps."""
    peak_bytes = Metric("B")
    """Peak space of one step."""
    peak_ratio = Metric("×")
    """Peak space relative to the table size."""


class Index(Scope, names=rf"index{_INTO}"):
    """Keys, indexes and statistics after a load."""

    seconds = Metric("s")
    log_bytes = Metric("B")
    """Bytes that the server wrote to its log meanwhile."""

    def __init__(self, workload: str, target: str | None) -> None:
        super().__init__(f"index.{workload}.{target}")

    def step(self, kind: str) -> Step:
        """Returns the scope of the steps of a kind."""
        return Step(f"{self}.{kind.replace(' ', '_')}")


def loaded(phase: Phase) -> str:
    """Returns the workload of a load or index phase: ``tpch`` of ``load-tpch-postgresql``."""
    return phase.name.removeprefix(f"{phase.kind}-").removesuffix(f"-{phase.target}")

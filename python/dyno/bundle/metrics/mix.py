"""Several workloads or targets at once: each member, their sums, and each against itself alone."""

from __future__ import annotations

from dyno.bundle.metrics.base import Estimates, Metric, Metrics, Scope


class Window(Scope, names=r"mix\.(?P<window>[^.]+)"):
    """A window in which the members run at the same time."""

    common_s = Metric("s")
    """Time in which all members were measured."""
    apart_s = Metric("s")
    """Time between the first and the last start of their measured times."""

    def __init__(self, name: str | None) -> None:
        super().__init__(f"mix.{name}")

    def member(self, name: str | None) -> Member:
        """Returns the scope of a member."""
        return Member(f"{self}.{name}")


class Member(Scope, names=r"mix\.(?P<window>[^.]+)\.(?P<member>[^.]+)"):
    """A member in the common time of a window; metrics of its level or test are under their names.

    Response times of transactions are those of the workload's main operation.
    """

    tps = Metric("1/s")
    per_min = Metrics[str]("1/min", "{}_per_min")
    p50_ms = Metric("ms")
    p95_ms = Metric("ms")
    queries = Metric()
    queries_failed = Metric()
    queries_per_h = Metric("1/h")
    p50_s = Metric("s")
    p95_s = Metric("s")


class Total(Scope, names=r"total\.(?P<window>[^.]+)\.(?P<workload>[^.]+)"):
    """The sum of a workload over several targets, on one clock."""

    targets = Metric()
    tps = Metric("1/s")
    queries = Metric()
    queries_per_h = Metric("1/h")

    def __init__(self, window: str | None, workload: str) -> None:
        super().__init__(f"total.{window}.{workload}")


class Slowdown(Scope, names=r"slowdown\.(?P<member>[^.]+)"):
    """A member among the others against itself alone; below zero is less."""

    throughput_percent = Metric("%")
    p95_percent = Metric("%")
    pairs = Metric()

    def __init__(self, member: str) -> None:
        super().__init__(f"slowdown.{member}")

    @staticmethod
    def members(known: Estimates) -> list[str]:
        """Returns the members that were also measured by themselves."""
        return known.between("slowdown.", Slowdown.pairs)

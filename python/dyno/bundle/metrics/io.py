"""Storage: curves and their best, each load, its volumes and jobs, and comparisons."""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.metrics.base import Key, Metric, Metrics, Scope

Quantity = Literal["mean", "p50", "p95", "p99", "p999", "max"]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)
Rate = Literal["iops", "mbps"]
SideName = Literal["read", "write", "sync"]
SIDES: tuple[SideName, ...] = get_args(SideName)

_PLACE = r"io(?:\.(?P<place>.+))?"
_CURVE = rf"{_PLACE}\.(?P<curve>[^.]+)"
_LOAD = rf"{_CURVE}\.(?P<load>(?:qd|rate)[^.]*(?:\.\d[^.]*)?)"
_PART = rf"{_LOAD}(?:\.(?:at|job)\.(?P<part>.+))?"


class Moved(Scope):
    """Whatever was moved."""

    iops = Metric("IOPS")
    mbps = Metric("MB/s")

    def rate(self, of: Rate) -> Key:
        """IOPS or MB/s."""
        return self.iops if of == "iops" else self.mbps


class Side(Moved, names=rf"{_PART}\.(?P<side>{'|'.join(SIDES)})", joint="_"):
    """Reads, writes or syncs of a load, or of a part of it."""

    service = Metrics("ms", "{}_ms", QUANTITIES)
    """From submission to the end."""
    response = Metrics("ms", "response_{}_ms", QUANTITIES)
    """From when it was due."""

    def latency(self, of: Quantity, *, response: bool) -> Key:
        """Response or service time."""
        return self.response(of) if response else self.service(of)


class Part(Moved, names=_PART):
    """A load, or one of its volumes or jobs."""

    errors = Metric()
    syncs_per_s = Metric("1/s")

    def side(self, name: SideName) -> Side:
        """Its reads, writes or syncs."""
        return Side(f"{self}.{name}")


class StorageLoad(Part, names=_LOAD):
    """What was measured at a load of a curve."""

    in_flight = Metric()
    slowest = Metrics("ms", "slowest_{}_ms", QUANTITIES)
    """Of reads, writes and syncs of any job on any volume."""
    windows = Metric()
    cov_percent = Metric("%")
    """How the IOPS of its windows vary."""
    offered_iops = Metric("IOPS")
    late_percent = Metric("%")
    unissued = Metric()
    cpu_percent = Metric("%")
    """How busy all CPUs of this machine were."""

    intervals = Metric()
    trend_percent = Metric("%")
    mean_error_percent = Metric("%")
    """Half of the 95 % interval of the mean of the window that tells least."""
    mser_discard_percent = Metric("%")
    mser_bias_percent = Metric("%")
    silent_s = Metric("s")
    drop_percent = Metric("%")
    """A fall by a step."""
    drop_from_iops = Metric("IOPS")
    drop_to_iops = Metric("IOPS")
    drop_at_s = Metric("s")

    def volume(self, name: str) -> Part:
        """One of several volumes at once."""
        return Part(f"{self}.at.{name}")

    def job(self, name: str) -> Part:
        """One of several jobs at once."""
        return Part(f"{self}.job.{name}")


class Curve(Scope, names=_CURVE):
    """A curve of jobs at rising load, and the best of its loads."""

    settling_windows = Metric()
    """Left out, as they came before it was steady."""
    best_iops = Metric("IOPS")
    best_mbps = Metric("MB/s")
    best_depth = Metric()
    best_rate = Metric("1/s")
    best = Metrics("ms", "best_{}_ms", QUANTITIES)
    """Of the slowest side at the best load."""
    best_confirmed = Metric()
    """Windows measured after a search had found it."""
    best_change_percent = Metric("%")
    """Against the first fill level."""

    def best_value(self, of: Rate) -> Key:
        """The best, in IOPS or MB/s."""
        return self.best_iops if of == "iops" else self.best_mbps

    def load(self, name: str) -> StorageLoad:
        """One of its loads: ``qd8``, ``rate5000``."""
        return StorageLoad(f"{self}.{name}")


class Place(Scope, names=_PLACE):
    """Volumes that were measured together, at a fill level; each of both only if there are more."""

    ceiling_ms = Metric("ms")

    def __init__(self, arm: str = "", stage: str = "") -> None:
        super().__init__(".".join(filter(None, ("io", arm, stage))))

    def curve(self, name: str) -> Curve:
        """One of its curves."""
        return Curve(f"{self}.{name}")


class Compared(Scope, names=r"io\.(?:compare|scaling)\.(?P<place>.+)\.(?P<curve>[^.]+)"):
    """The best of a curve against that of the first volumes."""

    ratio = Metric()
    efficiency_percent = Metric("%")
    """Of several volumes at once: of what they give alone."""

    def __init__(self, way: str, arm: str, stage: str, curve: str) -> None:
        super().__init__(".".join(filter(None, ("io", way, arm, stage, curve))))

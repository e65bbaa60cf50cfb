"""Storage: curves with their best load, each load with its volumes and jobs, and comparisons."""

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
    """A scope with I/O rates."""

    iops = Metric("IOPS")
    mbps = Metric("MB/s")

    def rate(self, of: Rate) -> Key:
        """Returns the key of IOPS or MB/s."""
        return self.iops if of == "iops" else self.mbps


class Side(Moved, names=rf"{_PART}\.(?P<side>{'|'.join(SIDES)})", joint="_"):
    """Reads, writes or syncs of a load, or of a part of it."""

    service = Metrics("ms", "{}_ms", QUANTITIES)
    """Time from submission to completion."""
    response = Metrics("ms", "response_{}_ms", QUANTITIES)
    """Time from the scheduled start to completion."""

    def latency(self, of: Quantity, *, response: bool) -> Key:
        """Returns the key of the response or service time."""
        return self.response(of) if response else self.service(of)


class Part(Moved, names=_PART):
    """A load, or one of its volumes or jobs."""

    errors = Metric()
    syncs_per_s = Metric("1/s")

    def side(self, name: SideName) -> Side:
        """Returns the scope of reads, writes or syncs."""
        return Side(f"{self}.{name}")


class StorageLoad(Part, names=_LOAD):
    """The measurement at one load of a curve."""

    in_flight = Metric()
    slowest = Metrics("ms", "slowest_{}_ms", QUANTITIES)
    """Maximum over reads, writes and syncs of any job on any volume."""
    windows = Metric()
    cov_percent = Metric("%")
    """Coefficient of variation of IOPS over its windows."""
    offered_iops = Metric("IOPS")
    late_percent = Metric("%")
    unissued = Metric()
    cpu_percent = Metric("%")
    """CPU utilization of this machine, all CPUs."""
    thread_percent = Metric("%")
    """CPU utilization of Dyno's busiest I/O thread."""

    intervals = Metric()
    trend_percent = Metric("%")
    mean_error_percent = Metric("%")
    """Half of the 95 % interval of the mean, for the least certain window."""
    mser_discard_percent = Metric("%")
    mser_bias_percent = Metric("%")
    silent_s = Metric("s")
    drop_percent = Metric("%")
    """A step-like decrease."""
    drop_from_iops = Metric("IOPS")
    drop_to_iops = Metric("IOPS")
    drop_at_s = Metric("s")

    def volume(self, name: str) -> Part:
        """Returns the scope of one of several concurrent volumes."""
        return Part(f"{self}.at.{name}")

    def job(self, name: str) -> Part:
        """Returns the scope of one of several concurrent jobs."""
        return Part(f"{self}.job.{name}")


class Curve(Scope, names=_CURVE):
    """A curve of jobs at increasing load, and its best load."""

    settling_windows = Metric()
    """Number of windows excluded because they precede the steady state."""
    best_iops = Metric("IOPS")
    best_mbps = Metric("MB/s")
    best_depth = Metric()
    best_rate = Metric("1/s")
    best = Metrics("ms", "best_{}_ms", QUANTITIES)
    """Latency of the slowest side at the best load."""
    best_confirmed = Metric()
    """Number of windows measured after a search found the best load."""
    best_change_percent = Metric("%")
    """Change relative to the first fill level."""

    def best_value(self, of: Rate) -> Key:
        """Returns the key of the best value, in IOPS or MB/s."""
        return self.best_iops if of == "iops" else self.best_mbps

    def load(self, name: str) -> StorageLoad:
        """Returns the scope of a load: ``qd8``, ``rate5000``."""
        return StorageLoad(f"{self}.{name}")


class VolumeSet(Scope, names=_PLACE):
    """Volumes measured together, at a fill level. Each part is named only if there are several."""

    ceiling_ms = Metric("ms")

    def __init__(self, volume_set: str = "", stage: str = "") -> None:
        super().__init__(".".join(filter(None, ("io", volume_set, stage))))

    def curve(self, name: str) -> Curve:
        """Returns the scope of a curve."""
        return Curve(f"{self}.{name}")


class Compared(Scope, names=r"io\.(?:compare|scaling)\.(?P<place>.+)\.(?P<curve>[^.]+)"):
    """The best value of a curve compared with that of the first volumes."""

    ratio = Metric()
    efficiency_percent = Metric("%")
    """Rate of several concurrent volumes in percent of the sum of their single rates."""

    def __init__(self, way: str, volume_set: str, stage: str, curve: str) -> None:
        super().__init__(".".join(filter(None, ("io", way, volume_set, stage, curve))))

"""The application gap: what a database took of what the profiler got out of the same storage."""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.metrics.base import Key, Metric, Scope
from dyno.bundle.metrics.io import Rate

Reference = Literal["sequential", "random", "mix"]
REFERENCES: tuple[Reference, ...] = get_args(Reference)

_PHASE = r"gap\.(?P<phase>[^.]+)"


class Share(Scope, names=rf"{_PHASE}\.(?P<reference>{'|'.join(REFERENCES)})", joint="_"):
    """What was taken, of the best of a curve of the profile."""

    share_percent = Metric("%")
    profile = Metric(None)
    """That best, in MB/s or I/Os a second."""
    profile_depth = Metric()
    profile_io_bytes = Metric("B")


class Gap(Scope, names=_PHASE):
    """What reached the devices that carry the data in a phase: means of all of them together."""

    application_mbps = Metric("MB/s")
    application_iops = Metric("1/s")
    queue_length = Metric()
    utilisation = Metric("%")
    write_percent = Metric("%")
    io_bytes = Metric("B")
    """Of a request, on average."""
    cpu_busy = Metric("%")
    engine_read_bytes = Metric("B")
    """What the engine asked the system for."""
    device_read_bytes = Metric("B")
    cache_percent = Metric("%")
    """Of what the engine asked for, from the page cache."""

    def __init__(self, phase: str) -> None:
        super().__init__(f"gap.{phase}")

    def application(self, of: Rate) -> Key:
        """What reached the devices, in MB/s or I/Os a second."""
        return self.application_mbps if of == "mbps" else self.application_iops

    def share(self, of: Reference) -> Share:
        """Against one of the best curves."""
        return Share(f"{self}.{of}")

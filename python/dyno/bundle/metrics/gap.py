"""The application gap: database I/O relative to the profiled maximum of the same storage."""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.metrics.base import Key, Metric, Scope
from dyno.bundle.metrics.io import Rate

Reference = Literal["sequential", "random", "mix"]
REFERENCES: tuple[Reference, ...] = get_args(Reference)

_PHASE = r"gap\.(?P<phase>[^.]+)"


class Share(Scope, names=rf"{_PHASE}\.(?P<reference>{'|'.join(REFERENCES)})", joint="_"):
    """The share of the best value of a profile curve that the database reached."""

    share_percent = Metric("%")
    profile = Metric(None)
    """The best value of the curve, in MB/s or IOPS."""
    profile_depth = Metric()
    profile_io_bytes = Metric("B")


class Gap(Scope, names=_PHASE):
    """I/O on the data devices in a phase: means over all of them together."""

    application_mbps = Metric("MB/s")
    application_iops = Metric("1/s")
    queue_length = Metric()
    utilisation = Metric("%")
    write_percent = Metric("%")
    io_bytes = Metric("B")
    """Mean request size."""
    cpu_busy = Metric("%")
    engine_read_bytes = Metric("B")
    """Bytes that the engine requested from the operating system."""
    device_read_bytes = Metric("B")
    cache_percent = Metric("%")
    """Share of the bytes requested by the engine that came from the page cache."""

    def __init__(self, phase: str) -> None:
        super().__init__(f"gap.{phase}")

    def application(self, of: Rate) -> Key:
        """Returns the rate that reached the devices, in MB/s or IOPS."""
        return self.application_mbps if of == "mbps" else self.application_iops

    def share(self, of: Reference) -> Share:
        """Returns the scope of a reference curve."""
        return Share(f"{self}.{of}")

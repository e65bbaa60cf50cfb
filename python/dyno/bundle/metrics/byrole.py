"""The words for metrics of volumes by role, which criteria and studies share."""

from __future__ import annotations

from typing import NamedTuple

from dyno.bundle.metrics.resource import VolumeMetric


class ByRole(NamedTuple):
    """A metric of the devices of a role as one.

    Attributes:
        about: What it is.
        metric: Its name among the metrics of a volume.
        unit: Its unit as people write it; empty for a count.
        role: Its role; empty if every role has it, as ``<word>.<role>``.
        per: How many units of the sampled metric are one of it.
    """

    about: str
    metric: VolumeMetric
    unit: str
    role: str = ""
    per: float = 1.0


BY_ROLE = {
    "data_read_ms": ByRole("read latency", "read_await", "ms", "data"),
    "data_write_ms": ByRole("write latency", "write_await", "ms", "data"),
    "log_write_ms": ByRole("write latency", "write_await", "ms", "log"),
    "iops": ByRole("reads and writes per second", "iops", "/s"),
    "mbps": ByRole("MB read and written per second", "mbps", "MB/s"),
    "read_share": ByRole("share of reads in all requests", "read_share", "%"),
    "read_kb": ByRole("mean size of a read", "read_size", "KiB", per=1024.0),
    "write_kb": ByRole("mean size of a write", "write_size", "KiB", per=1024.0),
    "queue": ByRole("mean requests in flight", "queue_length", ""),
}
"""By word."""

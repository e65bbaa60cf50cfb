"""``/proc/diskstats``: what every block device has done since boot.

Source: Documentation/admin-guide/iostats.rst of the kernel. Times are 32-bit milliseconds that
wrap; the weighted one can do so within hours on a busy array.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dyno.host.files import ROOT, read_text


@dataclass(frozen=True)
class DiskCounters:
    """Counters of one device since boot.

    Attributes:
        reads, writes: Requests completed, after merging.
        read_sectors, write_sectors: Sectors of 512 bytes.
        read_ms, write_ms: Sum over requests of the time from queueing to completion.
        busy_ms: Time in which at least one request was in flight.
        weighted_ms: Integral of the requests in flight over time.
    """

    reads: int
    read_sectors: int
    read_ms: int
    writes: int
    write_sectors: int
    write_ms: int
    busy_ms: int
    weighted_ms: int

    @property
    def active(self) -> bool:
        """Whether the device has done any I/O since boot."""
        return self.reads + self.writes > 0


def parse_diskstats(text: str) -> dict[str, DiskCounters]:
    """Counters by device name, partitions included.

    Lines of four counters, which kernels before 2.6.25 wrote for partitions, are left out.
    """
    counters: dict[str, DiskCounters] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 14:
            continue
        reads, _, read_sectors, read_ms, writes, _, write_sectors, write_ms, _, busy, weighted = (
            int(word) for word in words[3:14]
        )
        counters[words[2]] = DiskCounters(
            reads, read_sectors, read_ms, writes, write_sectors, write_ms, busy, weighted
        )
    return counters


def active_devices(root: Path = ROOT) -> set[str]:
    """Names of the devices that have done I/O since boot."""
    counters = parse_diskstats(read_text(root / "proc/diskstats") or "")
    return {name for name, counter in counters.items() if counter.active}

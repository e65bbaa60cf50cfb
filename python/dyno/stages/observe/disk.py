"""Probe: block device I/O, with each byte counted once.

A subject is a device that has done I/O since boot and carries no other device: a disk, or its
partitions if some of them carry other devices. Device-mapper and RAID devices replace their
members. The source is ``disk``. Loop devices and ZFS volumes have the source ``nested_disk``,
because their bytes also reach a device of source ``disk``. Sum over one source only.

Per second: ``read_iops``, ``write_iops`` (1/s), ``read_mbps``, ``write_mbps`` (MB/s, 10^6). For the
requests completed since the last reading, absent if there were none: ``read_share`` (% of
requests), ``io_size``, ``read_size``, ``write_size`` (mean of all, of reads, of writes; B),
``read_await``, ``write_await`` (mean time from queueing to completion, ms). ``queue_length`` (mean
requests in flight), ``utilisation`` (% of the time with a request in flight; a device with parallel
service is not saturated at 100 %).

Formulas: await = Δms/Δrequests, queue = Δweighted ms/Δt, size = Δsectors·512/Δrequests, as in
iostat(1) and the kernel's admin-guide/iostats.rst.
"""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.probe import Sample, UnavailableError
from dyno.host.block import SECTOR_BYTES, counted_devices, is_nested, read_devices
from dyno.host.diskstats import DiskCounters, parse_diskstats
from dyno.host.files import ROOT
from dyno.stages.observe.base import read_source

_WRAP_MS = 1 << 32


class DiskProbe:
    """Reads ``/proc/diskstats``, and ``/sys/block`` when devices appear or disappear."""

    name = "disk"

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._last: dict[str, DiskCounters] = {}
        self._last_ns = 0
        self._active: set[str] = set()
        self._counted: list[str] = []

    def read(self, now_ns: int) -> list[Sample]:
        """Returns rates and means since the last reading, per counted device."""
        counters = parse_diskstats(read_source(self._root / "proc/diskstats"))
        active = {name for name, counter in counters.items() if counter.active}
        if not (self._root / "sys/block").is_dir():
            raise UnavailableError(f"{self._root / 'sys/block'} is missing")
        if active != self._active:
            self._active = active
            self._counted = counted_devices(read_devices(self._root), active)
        seconds = (now_ns - self._last_ns) / 1e9
        rows: list[Sample] = []
        for name in self._counted:
            before, after = self._last.get(name), counters[name]
            if before is not None and seconds > 0:
                rows += samples(name, before, after, seconds)
        self._last, self._last_ns = counters, now_ns
        return rows


def samples(name: str, before: DiskCounters, after: DiskCounters, seconds: float) -> list[Sample]:
    """Returns the metrics of one device between two readings.

    Empty if its counters decreased: another device has taken the name.
    """
    reads, writes = after.reads - before.reads, after.writes - before.writes
    read_sectors = after.read_sectors - before.read_sectors
    write_sectors = after.write_sectors - before.write_sectors
    if min(reads, writes, read_sectors, write_sectors) < 0:
        return []
    requests = reads + writes
    megabytes = SECTOR_BYTES / 1e6
    values: list[tuple[str, float, str]] = [
        ("read_iops", reads / seconds, "1/s"),
        ("write_iops", writes / seconds, "1/s"),
        ("read_mbps", read_sectors * megabytes / seconds, "MB/s"),
        ("write_mbps", write_sectors * megabytes / seconds, "MB/s"),
    ]
    if requests:
        values += [
            ("read_share", 100 * reads / requests, "%"),
            ("io_size", (read_sectors + write_sectors) * SECTOR_BYTES / requests, "B"),
        ]
    if reads:
        values.append(("read_size", read_sectors * SECTOR_BYTES / reads, "B"))
    if writes:
        values.append(("write_size", write_sectors * SECTOR_BYTES / writes, "B"))
    # Some drivers and older RAID count requests but not time. No value is better than a zero.
    if after.weighted_ms or after.busy_ms:
        if reads:
            values.append(("read_await", _ms(before.read_ms, after.read_ms) / reads, "ms"))
        if writes:
            values.append(("write_await", _ms(before.write_ms, after.write_ms) / writes, "ms"))
        queue = _ms(before.weighted_ms, after.weighted_ms) / (seconds * 1000)
        # The kernel clock and ours differ slightly at the interval boundaries.
        busy = min(_ms(before.busy_ms, after.busy_ms) / (seconds * 10), 100.0)
        values += [("queue_length", queue, "count"), ("utilisation", busy, "%")]
    source = "nested_disk" if is_nested(name) else "disk"
    return [Sample(source, name, metric, value, unit) for metric, value, unit in values]


def _ms(before: int, after: int) -> int:
    """Returns milliseconds between two readings of a 32-bit counter that may wrap once."""
    return (after - before) % _WRAP_MS


def open_probe(root: Path) -> DiskProbe:
    """Opens the probe."""
    return DiskProbe(root)

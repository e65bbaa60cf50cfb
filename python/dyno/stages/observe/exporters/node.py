"""node_exporter: CPU, devices, memory, TCP and pressure as Dyno's own probes report them.

It does not show what a device is built on. So devices of the device mapper, RAID and loop devices
have the source ``nested_disk``: their bytes count again at a device of source ``disk``.
"""

from __future__ import annotations

import re
from typing import Any

from dyno.contracts.probe import Sample
from dyno.host.cpu_times import CpuTimes
from dyno.host.diskstats import DiskCounters
from dyno.stages.observe import cpu, disk, memory, network, pressure
from dyno.stages.observe.exporters.text import Scrape

_TICKS = 1000
"""A second of CPU time, in the whole numbers that shares are made from."""

_NESTED = re.compile(r"(dm-|md|loop|zd)\d")
_LEFT_OUT = re.compile(r"(ram|zram|fd|sr)\d")

_CPU = {
    "user": ("user", "nice"),
    "system": ("system", "irq", "softirq"),
    "iowait": ("iowait",),
    "steal": ("steal",),
    "idle": ("idle",),
}
_DISK = {
    "reads": ("node_disk_reads_completed_total", 1),
    "read_sectors": ("node_disk_read_bytes_total", 1 / 512),
    "read_ms": ("node_disk_read_time_seconds_total", 1000),
    "writes": ("node_disk_writes_completed_total", 1),
    "write_sectors": ("node_disk_written_bytes_total", 1 / 512),
    "write_ms": ("node_disk_write_time_seconds_total", 1000),
    "busy_ms": ("node_disk_io_time_seconds_total", 1000),
    "weighted_ms": ("node_disk_io_time_weighted_seconds_total", 1000),
}
_MEMORY = ("MemTotal", "MemAvailable", "MemFree", "Cached", "Dirty", "SwapTotal", "SwapFree")
_PRESSURE = {"some": "waiting", "full": "stalled"}


def samples(before: Scrape, after: Scrape, seconds: float) -> list[Sample]:
    """The samples between two scrapes; none of what the exporter does not report."""
    found = cpu.samples(_cpus(before), _cpus(after))
    last, now = _disks(before), _disks(after)
    for name in now.keys() & last.keys():
        rows = disk.samples(name, last[name], now[name], seconds)
        source = "nested_disk" if looks_nested(name) else "disk"
        found += [row._replace(source=source) for row in rows]
    found += memory.samples(_memory(after)) if after.each("node_memory_MemTotal_bytes") else []
    segments = _tcp(before), _tcp(after)
    if segments[0] is not None and segments[1] is not None:
        found += network.samples(segments[0], segments[1], seconds)
    return found + pressure.samples(_pressure(before), _pressure(after), seconds * 1e6)


def looks_nested(name: str) -> bool:
    """Whether a device is certainly built on others, as far as its name tells."""
    return _NESTED.match(name) is not None


def facts(scrape: Scrape) -> dict[str, Any]:
    """Facts about the machine, as ``dyno.host.fields`` names them; empty of another exporter."""
    cpus = {labels.get("cpu") for labels, _ in scrape.each("node_cpu_seconds_total")}
    if not cpus:
        return {}
    total = scrape.sum("node_memory_MemTotal_bytes")
    known = {} if total is None else {"memory": {"total_bytes": int(total)}}
    return {"cpu": {"logical": len(cpus), "usable": len(cpus)}, **known}


def _cpus(scrape: Scrape) -> dict[str, CpuTimes]:
    modes: dict[str, dict[str, float]] = {}
    for labels, value in scrape.each("node_cpu_seconds_total"):
        for name in ("", labels.get("cpu", "")):
            of_cpu = modes.setdefault(f"cpu{name}", {})
            mode = labels.get("mode", "")
            of_cpu[mode] = of_cpu.get(mode, 0.0) + value
    return {
        name: CpuTimes(
            **{
                field: round(sum(of_cpu.get(mode, 0.0) for mode in listed) * _TICKS)
                for field, listed in _CPU.items()
            }
        )
        for name, of_cpu in modes.items()
    }


def _disks(scrape: Scrape) -> dict[str, DiskCounters]:
    values: dict[str, dict[str, int]] = {}
    for field, (metric, factor) in _DISK.items():
        for labels, value in scrape.each(metric):
            name = labels.get("device", "")
            if name and not _LEFT_OUT.match(name):
                values.setdefault(name, {})[field] = round(value * factor)
    whole = {name: DiskCounters(**of) for name, of in values.items() if len(of) == len(_DISK)}
    return {name: counters for name, counters in whole.items() if counters.active}


def _memory(scrape: Scrape) -> dict[str, int]:
    found = {name: scrape.sum(f"node_memory_{name}_bytes") for name in _MEMORY}
    return {name: int(value) for name, value in found.items() if value is not None}


def _tcp(scrape: Scrape) -> network.TcpCounters | None:
    sent = scrape.sum("node_netstat_Tcp_OutSegs")
    again = scrape.sum("node_netstat_Tcp_RetransSegs")
    return None if sent is None or again is None else network.TcpCounters(int(sent), int(again))


def _pressure(scrape: Scrape) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for resource in pressure.RESOURCES:
        for line, word in _PRESSURE.items():
            value = scrape.sum(f"node_pressure_{resource}_{word}_seconds_total")
            if value is not None:
                found[resource, line] = round(value * 1e6)
    return found

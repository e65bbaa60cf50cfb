"""Probe: memory of the host, in bytes.

Subject ``host``: ``available`` (available to new work without swapping), ``cached`` (page cache,
including shared memory), ``dirty`` (waiting for writeback), ``swap_used``.
"""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.probe import Sample
from dyno.host.files import ROOT
from dyno.host.memory import available_bytes, parse_meminfo, swap_used_bytes
from dyno.stages.observe.base import read_source


class MemoryProbe:
    """Reads ``/proc/meminfo``."""

    name = "memory"

    def __init__(self, root: Path = ROOT) -> None:
        self._path = root / "proc/meminfo"

    def read(self, now_ns: int) -> list[Sample]:  # noqa: ARG002  (levels need no clock)
        """Returns the current levels."""
        return samples(parse_meminfo(read_source(self._path)))


def samples(fields: dict[str, int]) -> list[Sample]:
    """Returns levels from the kernel fields. Skips fields that the kernel does not report."""
    values = {
        "available": available_bytes(fields),
        "cached": fields.get("Cached"),
        "dirty": fields.get("Dirty"),
        "swap_used": swap_used_bytes(fields) if "SwapTotal" in fields else None,
    }
    return [
        Sample("memory", "host", metric, float(value), "B")
        for metric, value in values.items()
        if value is not None
    ]


def open_probe(root: Path) -> MemoryProbe:
    """Opens the probe."""
    return MemoryProbe(root)

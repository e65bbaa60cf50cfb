"""Probe: memory of the host, in bytes.

Subject ``host``: ``available`` (new work can have it without swapping), ``cached`` (page cache,
shared memory included), ``dirty`` (waiting to be written back), ``swap_used``.
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
        """Levels at this moment."""
        return samples(parse_meminfo(read_source(self._path)))


def samples(fields: dict[str, int]) -> list[Sample]:
    """Levels from the kernel's fields; what a kernel does not tell is left out."""
    figures = {
        "available": available_bytes(fields),
        "cached": fields.get("Cached"),
        "dirty": fields.get("Dirty"),
        "swap_used": swap_used_bytes(fields) if "SwapTotal" in fields else None,
    }
    return [
        Sample("memory", "host", metric, float(value), "B")
        for metric, value in figures.items()
        if value is not None
    ]


def open_probe(root: Path) -> MemoryProbe:
    """The probe."""
    return MemoryProbe(root)

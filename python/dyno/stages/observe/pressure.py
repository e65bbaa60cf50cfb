"""Probe: pressure stall information, the share of time in which tasks waited for a resource.

Subjects ``cpu``, ``io``, ``memory``: ``some`` (at least one task waited) and ``full`` (all non-idle
tasks waited), in % of the time since the last reading: Δtotal/Δt. Source: the kernel's
accounting/psi.rst. ``full`` of ``cpu`` is undefined for a whole host and is excluded.
"""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.probe import Sample, UnavailableError
from dyno.host.files import ROOT
from dyno.stages.observe.base import read_source

RESOURCES = ("cpu", "io", "memory")


class PressureProbe:
    """Reads ``/proc/pressure/*``."""

    name = "pressure"

    def __init__(self, root: Path = ROOT) -> None:
        self._folder = root / "proc/pressure"
        self._last: dict[tuple[str, str], int] = {}
        self._last_ns = 0

    def read(self, now_ns: int) -> list[Sample]:
        """Returns the shares since the last reading."""
        totals: dict[tuple[str, str], int] = {}
        for resource in RESOURCES:
            for line, total in parse_pressure(self._text(resource)).items():
                if (resource, line) != ("cpu", "full"):
                    totals[resource, line] = total
        rows = samples(self._last, totals, (now_ns - self._last_ns) / 1000)
        self._last, self._last_ns = totals, now_ns
        return rows

    def _text(self, resource: str) -> str:
        try:
            return read_source(self._folder / resource)
        except UnavailableError as error:
            # A kernel with PSI that booted without it rejects the read.
            raise UnavailableError(f"{error}; boot with psi=1 on Linux 4.20 or later") from error


def parse_pressure(text: str) -> dict[str, int]:
    """``some`` and ``full`` → µs waited since boot."""
    totals: dict[str, int] = {}
    for line in text.splitlines():
        words = line.split()
        for word in words[1:]:
            if word.startswith("total="):
                totals[words[0]] = int(word.removeprefix("total="))
    return totals


def samples(
    before: dict[tuple[str, str], int], after: dict[tuple[str, str], int], elapsed_us: float
) -> list[Sample]:
    """Returns the shares between two readings ``elapsed_us`` apart."""
    if elapsed_us <= 0:
        return []
    return [
        Sample("pressure", key[0], key[1], _percent(total - before[key], elapsed_us), "%")
        for key, total in after.items()
        if key in before
    ]


def _percent(waited_us: int, elapsed_us: float) -> float:
    """Returns a share in %, clamped to 0…100: the two clocks are not read at the same time."""
    return min(max(100 * waited_us / elapsed_us, 0.0), 100.0)


def open_probe(root: Path) -> PressureProbe:
    """Opens the probe."""
    return PressureProbe(root)

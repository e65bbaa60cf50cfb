"""Probe: CPU utilization of the host.

Subject ``host``, shares in % of all CPUs since the last reading: ``user``, ``system`` (with
interrupts), ``iowait``, ``steal``, ``idle``, which add up to 100; ``busy`` = user + system;
``busiest_core`` = the highest ``busy`` of a single CPU.
"""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.probe import Sample, UnavailableError
from dyno.host.cpu_times import CpuTimes, parse_stat, shares
from dyno.host.files import ROOT
from dyno.stages.observe.base import read_source


class CpuProbe:
    """Reads ``/proc/stat``."""

    name = "cpu"

    def __init__(self, root: Path = ROOT) -> None:
        self._path = root / "proc/stat"
        self._last: dict[str, CpuTimes] = {}

    def read(self, now_ns: int) -> list[Sample]:  # noqa: ARG002  (shares need no clock)
        """Shares since the last reading."""
        last, self._last = self._last, parse_stat(read_source(self._path))
        if "cpu" not in self._last:
            raise UnavailableError(f"{self._path} has no line for the processors")
        return samples(last, self._last)


def samples(before: dict[str, CpuTimes], after: dict[str, CpuTimes]) -> list[Sample]:
    """Returns the shares between two readings. Excludes CPUs that went online or offline."""
    each = {name: shares(before[name], after[name]) for name in after if name in before}
    host = each.pop("cpu", None)
    if host is None:
        return []
    values = {
        "user": host.user,
        "system": host.system,
        "iowait": host.iowait,
        "steal": host.steal,
        "idle": host.idle,
        "busy": host.busy,
        # Ticks are rounded per CPU: the maximum must not be less than the mean.
        "busiest_core": max([host.busy, *(core.busy for core in each.values() if core)]),
    }
    return [Sample("cpu", "host", metric, value, "%") for metric, value in values.items()]


def open_probe(root: Path) -> CpuProbe:
    """Opens the probe."""
    return CpuProbe(root)

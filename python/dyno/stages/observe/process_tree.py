"""Finds the descendants of a process without reading every process of the machine."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import psutil

from dyno.host.files import ROOT


class ProcessTree:
    """Finds descendants through ``/proc/<pid>/task/*/children`` if the kernel provides it.

    psutil reads every process: on a busy server, once per second, that costs more than all other
    probes together.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self._proc = str(root / "proc")
        me = os.getpid()
        self._listed = Path(f"{self._proc}/{me}/task/{me}/children").exists()

    def pids(self, process: psutil.Process) -> list[int]:
        """Returns the process ids of ``process`` and all its descendants, parents first."""
        if not self._listed:
            try:
                return [process.pid, *(p.pid for p in process.children(recursive=True))]
            except psutil.Error:
                return [process.pid]
        found = {process.pid: None}
        open_ends = [process.pid]
        while open_ends:
            new = [pid for pid in self._children(open_ends.pop()) if pid not in found]
            found |= dict.fromkeys(new)
            open_ends += new
        return list(found)

    def _children(self, pid: int) -> list[int]:
        """Returns the children of all threads of a process; none if it has ended."""
        # Plain calls: pathlib would double the cost of a reading.
        tasks = f"{self._proc}/{pid}/task"
        found: list[int] = []
        with contextlib.suppress(OSError):
            for thread in os.listdir(tasks):  # noqa: PTH208
                with (
                    contextlib.suppress(OSError),
                    open(f"{tasks}/{thread}/children", "rb") as file,  # noqa: PTH123
                ):
                    found += map(int, file.read().split())
        return found

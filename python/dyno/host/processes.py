"""``/proc/<pid>/stat``: names of processes and their CPU time.

Source: proc_pid_stat(5). Names are the kernel's (``comm``, 15 characters): command lines, which may
hold secrets, are never read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dyno.host.files import ROOT

_MOST = 20_000
"""Processes that are read: more than that would cost more than what is measured."""


class Process(NamedTuple):
    """One process.

    Attributes:
        started: Ticks after boot; with ``pid`` it names a process for ever.
        ticks: Its own CPU time.
        reaped_ticks: CPU time of its children that ended and were waited for.
    """

    pid: int
    name: str
    parent: int
    started: int
    ticks: int
    reaped_ticks: int


def processes(root: Path = ROOT) -> list[Process]:
    """Those that can be seen; ones that end meanwhile are left out."""
    proc = str(root / "proc")
    try:
        # Plain calls instead of pathlib, which would double the cost of a reading.
        pids = [name for name in os.listdir(proc) if name.isdecimal()]  # noqa: PTH208
    except OSError:
        return []
    found = (_read(f"{proc}/{pid}/stat", int(pid)) for pid in pids[:_MOST])
    return [one for one in found if one is not None]


def _read(path: str, pid: int) -> Process | None:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            text = file.read(4096)
        return parse(text, pid)
    except (OSError, ValueError, IndexError):
        return None


def parse(text: bytes, pid: int) -> Process:
    """One line of ``stat``; a name may hold blanks and brackets.

    Raises:
        ValueError, IndexError: If it is none.
    """
    head, _, rest = text.rpartition(b")")
    name = head.partition(b"(")[2].decode(errors="replace")
    fields = rest.split()
    user, system, reaped_user, reaped_system = map(int, fields[11:15])
    return Process(
        pid, name, int(fields[1]), int(fields[19]), user + system, reaped_user + reaped_system
    )


def family(roots: Iterable[int], known: Iterable[Process]) -> set[int]:
    """Process ids of ``roots`` and all that descend from them."""
    below: dict[int, list[int]] = {}
    for one in known:
        below.setdefault(one.parent, []).append(one.pid)
    found: set[int] = set()
    open_ends = list(roots)
    while open_ends:
        pid = open_ends.pop()
        if pid not in found:
            found.add(pid)
            open_ends += below.get(pid, ())
    return found

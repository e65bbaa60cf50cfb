"""Whether a server is a process on this machine, and the paths of its files."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from dyno.contracts.whereabouts import Told
from dyno.host.files import read_text

_MOST_SKEW_S = 5.0
"""Allowed difference of start times: the kernel counts from boot, a server by its wall clock, and
some from when they are ready."""


@dataclass(frozen=True)
class Here:
    """The known facts about a server.

    Attributes:
        pid: Its main process, the parent of the others; None if it is not found on this machine.
        storage: Its paths by role, and of tablespaces by volume; unknown ones are absent.
        notes: Why something is unknown, and advice; one line each.
    """

    pid: int | None = None
    storage: dict[str, list[Path]] = field(default_factory=dict[str, list[Path]])
    notes: tuple[str, ...] = ()


ELSEWHERE = Here()
"""A server on another machine."""

UNSEEN = Here(
    notes=(
        "the server answers on this machine, but no process here is certainly it: it runs in a "
        "container, behind a tunnel, or as a user whose processes are hidden",
    )
)


def locate(told: Told) -> Here:
    """Finds process and files of a server on this machine.

    A local port may lead to a container or, through a tunnel, to another machine. So a process must
    be found here that works in the server's data folder.

    Raises:
        psutil.Error, OSError: If the process ends meanwhile.
    """
    found = _listed(told) if told.pid is None else _session(told, told.pid)
    if found is None:
        return UNSEEN
    main = found.pid if told.pid is None else _parent(found, told)
    if not told.data:
        return Here(main, notes=told.notes)
    data = Path(told.data)
    if not shares_files(found, data):
        return UNSEEN
    storage: dict[str, list[Path]] = {}
    notes = list(told.notes)
    for role, texts in told.places.items():
        try:
            if told.link in texts:
                (data / told.link).lstat()
            storage[role] = list(dict.fromkeys((data / text).resolve() for text in texts))
        except OSError:
            notes.append(
                f"this user may not read the link {data / told.link}: run Dyno as the server's "
                f"user or as root to find the {role} device"
            )
    return Here(main, storage, tuple(notes))


def successor(told: Told) -> int | None:
    """The main process of a server that was restarted in the data folder that it had.

    None while there is none, or if the folder is unknown.
    """
    if not told.data:
        return None
    found: dict[int, int] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if is_server(process, told) and shares_files(process, Path(told.data)):
                found[process.pid] = process.ppid()
    main = [pid for pid, parent in found.items() if parent not in found]
    return main[0] if len(main) == 1 else None


def _session(told: Told, pid: int) -> psutil.Process | None:
    """The process of a session, if it is on this machine."""
    try:
        process = psutil.Process(pid)
        known = told.age_s is not None and _started_then(process, told.age_s)
        return process if known and is_server(process, told) else None
    except psutil.Error:
        return None


def _listed(told: Told) -> psutil.Process | None:
    """The only process of the programs that works in the data folder."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.name() not in told.programs:
                continue
            other = told.age_s is not None and not _started_then(process, told.age_s)
            if not other and shares_files(process, Path(told.data)):
                found.append(process)
    return found[0] if len(found) == 1 else None


def _started_then(process: psutil.Process, age_s: float) -> bool:
    return abs(process.create_time() - (time.time() - age_s)) < _MOST_SKEW_S


def _parent(process: psutil.Process, told: Told) -> int | None:
    parent = process.parent()
    return parent.pid if parent is not None and is_server(parent, told) else None


def is_server(process: psutil.Process, told: Told) -> bool:
    """Whether a process runs a program of the server and has not ended.

    Raises:
        psutil.Error: If it does not exist.
    """
    return process.status() != psutil.STATUS_ZOMBIE and any(
        name in process.name() for name in told.programs
    )


def shares_files(process: psutil.Process, data: Path) -> bool:
    """Whether a server's data folder is the same folder for its process and for Dyno.

    A container has its own namespaces of processes and files. The working directory of a database
    server is its data folder. If this user may not read that, the folder must belong to the
    server's
    user.
    """
    status = read_text(Path(f"/proc/{process.pid}/status")) or ""
    numbers = [line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")]
    if numbers and len(numbers[0]) > 1:
        return False
    try:
        own = data.stat()
        try:
            return os.path.samestat(own, Path(f"/proc/{process.pid}/cwd").stat())
        except PermissionError:
            return own.st_uid == process.uids().effective
    except (OSError, psutil.Error):
        return False

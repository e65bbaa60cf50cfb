"""Whether a server at a URL is a process of this machine, and where its files lie then."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from dyno.bundle.model import Role
from dyno.host.files import read_text


@dataclass(frozen=True)
class Here:
    """What is known of a server at a URL.

    Attributes:
        pid: Its first process, the parent of the others; None if it is not seen on this machine.
        storage: Its paths by role; without an entry where that is not known.
        notes: Why something is not known, and what to do; a line each.
    """

    pid: int | None = None
    storage: dict[Role, list[Path]] = field(default_factory=dict[Role, list[Path]])
    notes: tuple[str, ...] = ()


ELSEWHERE = Here()
"""A server of another machine."""

UNSEEN = Here(
    notes=(
        "the server answers on this machine, but no process here is certainly it: it runs in a "
        "container, behind a tunnel, or as a user whose processes are hidden",
    )
)


def shares_files(process: psutil.Process, data: Path) -> bool:
    """Whether a server's data folder is the same folder to its process and to Dyno.

    A container's process has names of its own for processes and files. A database server works in
    its data folder. Where this user may not see that, the folder must belong to the server's user.
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

"""Whether a server at a URL is a process on this machine, and the paths of its files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from dyno.bundle.model import Role
from dyno.host.files import read_text


@dataclass(frozen=True)
class Here:
    """The known facts about a server at a URL.

    Attributes:
        pid: Its main process, the parent of the others; None if it is not found on this machine.
        storage: Its paths by role; unknown roles are absent.
        notes: Why something is unknown, and advice; one line each.
    """

    pid: int | None = None
    storage: dict[Role, list[Path]] = field(default_factory=dict[Role, list[Path]])
    notes: tuple[str, ...] = ()


ELSEWHERE = Here()
"""A server on another machine."""

UNSEEN = Here(
    notes=(
        "the server answers on this machine, but no process here is certainly it: it runs in a "
        "container, behind a tunnel, or as a user whose processes are hidden",
    )
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

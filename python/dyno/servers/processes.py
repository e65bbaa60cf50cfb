"""The server's processes, known by the folder that they work in."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil


def working_in(data: Path, program: str) -> list[psutil.Process]:
    """Processes of a server whose working directory is ``data``: all of a server's have it."""
    place = str(data.resolve())
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.name() == program and process.cwd() == place:
                found.append(process)
    return found


def evict(data: Path, program: str) -> None:
    """Kills what is left of a server in ``data``.

    Each PostgreSQL process leads a session of its own, and one that computes does not notice the
    end of its postmaster.
    """
    found = working_in(data, program)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(found, timeout=5)

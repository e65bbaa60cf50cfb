"""Finds the server's processes by their working directory."""

from __future__ import annotations

import contextlib
from pathlib import Path

import psutil


def working_in(data: Path, program: str) -> list[psutil.Process]:
    """Processes of a server with the working directory ``data``, which all of them have."""
    place = str(data.resolve())
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.name() == program and process.cwd() == place:
                found.append(process)
    return found


def evict(data: Path, program: str) -> None:
    """Kills the remaining processes of a server in ``data``.

    Each PostgreSQL process leads its own session, and one that computes does not notice the exit of
    its
    postmaster.
    """
    found = working_in(data, program)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(found, timeout=5)

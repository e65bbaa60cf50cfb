"""Processes of Dyno's own that do a part of its work; the probes count them as Dyno's."""

from __future__ import annotations

_pids: set[int] = set()


def add(pid: int) -> None:
    """A process was started."""
    _pids.add(pid)


def remove(pid: int) -> None:
    """It has ended."""
    _pids.discard(pid)


def pids() -> list[int]:
    """Those that run."""
    return sorted(_pids.copy())

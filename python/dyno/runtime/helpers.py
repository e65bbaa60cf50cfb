"""Child processes that do part of Dyno's work; the probes count them as Dyno's."""

from __future__ import annotations

_pids: set[int] = set()


def add(pid: int) -> None:
    """Registers a started process."""
    _pids.add(pid)


def remove(pid: int) -> None:
    """Removes a process that has ended."""
    _pids.discard(pid)


def pids() -> list[int]:
    """The running processes."""
    return sorted(_pids.copy())

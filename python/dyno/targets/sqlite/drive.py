"""How the compiled driver reaches a file: a session a user, each with these settings.

The driver brings a SQLite of its own, as the loader does, so that no session of Python's may have
the file open meanwhile (see ``dyno.targets.sqlite.load``).

SQLite has one writer. Users whose transactions write take turns, by SQLite's own way to wait for
a lock: to look again after pauses that become longer. The driver tells how much of the time the
right to write was held and how long others waited for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dyno.targets.sqlite.file import BUSY_TIMEOUT_S
from dyno.targets.sqlite.tuning import FOLDER, Change

SETTINGS: dict[str, int | str] = {
    # KiB, of each session. More would serve only a single user: what a session has cached is
    # forgotten whenever another one has written. All share the kernel's page cache.
    "cache_size": -16_000,
    "foreign_keys": 1,  # only tables that declare some have any
    "secure_delete": 0,  # as in every session of Dyno's
    "synchronous": 2,  # full: each commit waits for storage
    "wal_autocheckpoint": 1000,
}
"""Pragmas of a driven session, with the values that they read back as."""


def settings(changes: Sequence[Change], page_size: int) -> dict[str, int | str]:
    """Those pragmas, with what the run asks for."""
    return {**SETTINGS, **asked(changes, page_size)}


def asked(changes: Sequence[Change], page_size: int) -> dict[str, int | str]:
    """What the run asks of a session, in a file with pages of so many bytes."""
    return {item.name: item.value(page_size) for item in changes if item.name != FOLDER}


def wire(file: Path, changes: Sequence[Change], page_size: int) -> dict[str, Any]:
    """The driver's plan for a file; it reads each setting back."""
    return {
        "kind": "sqlite",
        "path": str(file),
        "busy_timeout_s": BUSY_TIMEOUT_S,
        "settings": settings(changes, page_size),
    }

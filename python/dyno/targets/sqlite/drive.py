"""Connects the Rust driver to a file: one session per user, each with these settings.

Like the loader, the driver has its own copy of SQLite, so no Python session may have the file open
meanwhile (see ``dyno.targets.sqlite.load``).

SQLite has one writer. Users with writing transactions take turns through SQLite's busy handler,
which retries with growing pauses. The driver reports the share of time that the write lock was held
and how long others waited for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dyno.targets.sqlite.file import BUSY_TIMEOUT_S
from dyno.targets.sqlite.tuning import FOLDER, Change

SETTINGS: dict[str, int | str] = {
    # KiB per session. More would only help a single user: a session's cache is invalidated
    # whenever another one has written. All share the kernel's page cache.
    "cache_size": -16_000,
    "foreign_keys": 1,  # only declared ones exist
    "secure_delete": 0,  # as in every session of Dyno
    "synchronous": 2,  # full: each commit waits for storage
    "wal_autocheckpoint": 1000,
}
"""Pragmas of a driver session, with the values that they read back as."""


def settings(changes: Sequence[Change], page_size: int) -> dict[str, int | str]:
    """These pragmas, with the run's settings."""
    return {**SETTINGS, **asked(changes, page_size)}


def asked(changes: Sequence[Change], page_size: int) -> dict[str, int | str]:
    """The run's settings of a session, for a page size in bytes."""
    return {item.name: item.value(page_size) for item in changes if item.name != FOLDER}


def wire(file: Path, changes: Sequence[Change], page_size: int) -> dict[str, Any]:
    """The driver's plan for a file; the driver reads each setting back."""
    return {
        "kind": "sqlite",
        "path": str(file),
        "busy_timeout_s": BUSY_TIMEOUT_S,
        "settings": settings(changes, page_size),
    }

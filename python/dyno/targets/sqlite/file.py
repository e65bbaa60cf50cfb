"""The database files: locations, and how a session opens one.

SQLite has no schemas, so one file holds one workload, with plain table names, and those that add
tables to it. A URL names that
file; private files are in a folder, one per workload.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from dyno.contracts.databases import home_of
from dyno.contracts.target import Limits, TargetUrl
from dyno.errors import TargetError
from dyno.targets.fileurl import file_of
from dyno.targets.sqlite import tuning
from dyno.targets.sqlite.errors import open_error

BUSY_TIMEOUT_S = 5.0
"""Timeout in seconds for a lock of another process."""


def locate(url: TargetUrl, out: Path, workload: str) -> Path:
    """The file of ``workload``: that of a URL, or a private one under ``out``.

    Raises:
        UsageError: If the URL names no file.
    """
    if url.scheme == "embedded":
        name = home_of(workload) if workload else "dyno"
        return (out / "engines" / "sqlite" / f"{name}.sqlite").absolute()
    return file_of(url, "SQLite")


def settings(limits: Limits) -> dict[str, int]:
    """Pragmas of every session.

    A negative ``cache_size`` is in KiB and also bounds the memory of a sort: a quarter of the
    memory
    each, so that two concurrent sessions stay within it.
    """
    return {
        "cache_size": -max(2000, limits.memory_bytes // 4 // 1024),
        "foreign_keys": 1,  # only declared ones exist
        "threads": limits.threads,  # helper threads of a sort; SQLite caps them at 8
        "secure_delete": 0,  # Debian's build overwrites deleted data with zeros
    }


def open_session(
    file: Path, limits: Limits, changes: Sequence[tuning.Change] = ()
) -> sqlite3.Connection:
    """Opens a file with Dyno's settings and those of the run; creates it if missing.

    Raises:
        TargetError: If it cannot be opened, is not a database, or is locked.
    """
    raw: sqlite3.Connection | None = None
    try:
        raw = sqlite3.connect(
            file,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,  # statements start transactions
            check_same_thread=False,  # one thread works, another may interrupt it
            cached_statements=0,
        )
        for name, value in settings(limits).items():
            raw.execute(f"PRAGMA {name} = {value}")
        # Otherwise 'a' LIKE 'A' is true, unlike in standard SQL.
        raw.execute("PRAGMA case_sensitive_like = ON")
        raw.execute("SELECT count(*) FROM sqlite_master")  # the first access to the file
        tuning.apply(raw, changes)
        if raw.execute("SELECT 'a' LIKE 'A'").fetchone() != (0,):
            raise TargetError(
                "This SQLite does not support case-sensitive LIKE: it lacks case_sensitive_like."
            )
    except BaseException as error:
        if raw is not None:
            with contextlib.suppress(sqlite3.Error):
                raw.close()
        if isinstance(error, sqlite3.Error):
            raise open_error(error, file) from error
        raise
    return raw


def siblings(file: Path) -> list[Path]:
    """The existing files of a database: the file, and its journal or log."""
    names = (file, *(Path(f"{file}{end}") for end in ("-journal", "-wal", "-shm")))
    return [name for name in names if name.is_file()]


def spilled() -> int:
    """Bytes in SQLite's temporary files that this process has open.

    They are unlinked, so a scan of their folder does not find them.
    """
    total = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if "/etilqs_" in str(link.readlink()):
                total += link.stat().st_blocks * 512
    return total


def spill_folder(chosen: str = "") -> str:
    """The folder of spilled sorts: the first writable folder in SQLite's order.

    Source: https://www.sqlite.org/tempfiles.html, 5. ``chosen`` is ``temp_store_directory``, which
    comes first.
    """
    if chosen:
        return chosen
    named = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    for folder in (*named, "/var/tmp", "/usr/tmp", "/tmp"):  # noqa: S108  (SQLite's own list)
        if folder and os.access(folder, os.W_OK | os.X_OK) and Path(folder).is_dir():
            return folder
    return "."

"""SQLite versions, and settings read back from a session."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from dyno.targets.sqlite import ddl, drive, load, tuning
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.file import spill_folder

_PRAGMAS = (
    "auto_vacuum",
    "busy_timeout",
    "cache_size",
    "encoding",
    "foreign_keys",
    "journal_mode",
    "mmap_size",
    "page_size",
    "secure_delete",
    "synchronous",
    "temp_store",
    "threads",
    "wal_autocheckpoint",
)
_WORDS = {
    "auto_vacuum": ("none", "full", "incremental"),
    "synchronous": ("off", "normal", "full", "extra"),
    "temp_store": ("default", "file", "memory"),
}


def version() -> str:
    """The version that runs queries, and that of the loader and driver."""
    return f"SQLite {sqlite3.sqlite_version} ({_compiled()} for loads and transactions)"


def settings(session: SqliteConnection, changes: Sequence[tuning.Change]) -> dict[str, str]:
    """Pragmas of a session, and those of the loader and the driver.

    Both read their pragmas back, and fail on another value.
    """
    found = {name: shown(session, name) for name in _PRAGMAS}
    found["temp_directory"] = spill_folder(str(tuning.read(session.raw, tuning.FOLDER) or ""))
    given = {
        "loader": load.settings(changes, shared=not ddl.only_dynos(session)),
        "driver": drive.settings(changes, tuning.page_size(session.raw)),
    }
    for part, pragmas in given.items():
        found[part] = f"SQLite {_compiled()}"
        found.update({f"{part}.{name}": _words(name, value) for name, value in pragmas.items()})
    return found


def shown(session: SqliteConnection, name: str) -> str:
    """A pragma's value as readable text."""
    rows = session.execute(f"PRAGMA {name}").rows
    return _words(name, rows[0][0]) if rows else "unknown"


def _compiled() -> str:
    from dyno import _core

    return str(json.loads(_core.parts())["sqlite"])


def _words(name: str, value: Any) -> str:
    words = _WORDS.get(name, ())
    return words[value] if isinstance(value, int) and 0 <= value < len(words) else str(value)

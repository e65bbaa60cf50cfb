"""Kinds of files of SQLite, for a cache in front: pattern, kind, what is done."""

from __future__ import annotations

KINDS = (
    ("{**/,}*-{wal,journal}", "log", "pass"),
    ("{**/,}*-shm", "state", "pass"),
    ("{**/,}*.{db,sqlite,sqlite3}", "table", "cache"),
)

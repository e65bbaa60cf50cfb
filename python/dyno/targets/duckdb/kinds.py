"""Kinds of files of DuckDB, for a cache in front: pattern, kind, what is done."""

from __future__ import annotations

KINDS = (
    ("{**/,}*.wal", "log", "pass"),
    ("{**/,}*.tmp/**", "temporary", "pass"),
    ("{**/,}*.duckdb", "table", "cache"),
)

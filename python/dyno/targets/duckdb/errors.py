"""DuckDB errors, mapped to the classes of a bundle."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from dyno.errors import DynoError, TargetError, error_of_kind

_CLASSES: tuple[tuple[type[duckdb.Error], str], ...] = (
    (duckdb.InterruptException, "timeout"),
    (duckdb.OutOfMemoryException, "out_of_memory"),
    (duckdb.FatalException, "connection_lost"),
    (duckdb.ConnectionException, "connection_lost"),
    (duckdb.TransactionException, "serialization"),
    (duckdb.IOException, "io"),
)


def statement_error(error: duckdb.Error) -> DynoError:
    """The error for a statement that failed."""
    text = str(error)
    kind = next((kind for known, kind in _CLASSES if isinstance(error, known)), "database")
    advice = ""
    if "No space left" in text:
        kind, advice = "disk_full", "; free space on the volume of the database file"
    elif "max_temp_directory_size" in text:
        kind = "disk_full"
        advice = "; raise max_temp_directory_size, or raise memory_limit to spill less"
    elif kind == "out_of_memory":
        advice = "; the query needs more than DuckDB's memory_limit"
    elif kind == "timeout":
        return error_of_kind(kind, "DuckDB: The query exceeded its time limit and was cancelled.")
    return error_of_kind(kind, f"DuckDB: {_first_line(text)}{advice}.")


def open_error(error: duckdb.Error, file: Path) -> TargetError:
    """The error for a database file that cannot be opened, with advice."""
    text = str(error)
    if holder := re.search(r"Conflicting lock is held in (.*?) ?\(PID (\d+)\)", text):
        program = Path(holder[1]).name or "a program"
        return TargetError(
            f"{file} is open in another process ({program}, {holder[2]}); DuckDB allows "
            "one. Wait for it, or use another file."
        )
    if "not a valid DuckDB database" in text:
        return TargetError(f"{file} is not a DuckDB database; use another file.")
    return TargetError(f"DuckDB cannot open {file}: {_first_line(text)}.", kind="io")


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "unknown error")
    return re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", line).rstrip(".")

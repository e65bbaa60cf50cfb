"""The database file: its location, and how to open it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import duckdb

from dyno.contracts.target import Limits, TargetUrl
from dyno.errors import TargetError
from dyno.targets.duckdb.errors import open_error
from dyno.targets.fileurl import file_of

_MISREAD = "\\?"
"""DuckDB misreads them: a backslash separates folders, and the log's suffix goes before a
question mark.
"""


def locate(url: TargetUrl, out: Path) -> Path:
    """The file of a URL, or the private one under ``out``.

    Raises:
        UsageError: If the URL names no file.
    """
    if url.scheme == "embedded":
        return (out / "engines" / "duckdb" / "dyno.duckdb").absolute()
    return file_of(url, "DuckDB")


def config(file: Path, limits: Limits) -> dict[str, str | int | bool]:
    """The default options to open a file."""
    return {
        "memory_limit": f"{limits.memory_bytes}B",
        "threads": limits.threads,
        "temp_directory": f"{file}.tmp",
        # Rows have no order in SQL; preserving one costs memory and parallelism.
        "preserve_insertion_order": False,
    }


def open_file(
    file: Path,
    limits: Limits,
    *,
    private: bool,
    settings: Mapping[str, str | int] | None = None,
) -> duckdb.DuckDBPyConnection:
    """Opens the file within the limits, or with ``settings``; creates it if missing.

    Queries that need more memory spill to ``<file>.tmp``. If the file is ``private``, the remains
    of a
    killed Dyno there are removed, because no other process can have it open. The same applies to a
    spill folder in ``settings``, which belongs to Dyno.

    Raises:
        TargetError: If it cannot be opened, another process has it open, or DuckDB would confuse
            its
            name with that of another file.
    """
    if found := next((char for char in _MISREAD if char in str(file)), None):
        raise TargetError(
            f"DuckDB does not support '{found}' in the path {file}. Use another "
            f"{'--out DIR' if private else 'file'}."
        )
    spills = [f"{file}.tmp"] if private else []
    if settings and "temp_directory" in settings:
        spills.append(str(settings["temp_directory"]))
    try:
        if private:
            file.parent.mkdir(parents=True, exist_ok=True)
        opened = duckdb.connect(
            str(file),
            config={**config(file, limits), **(settings or {})},
        )
    except OSError as error:
        message = f"Cannot create {file.parent}: {error.strerror}. Use another --out DIR."
        raise TargetError(message, kind="io") from error
    except duckdb.Error as error:
        raise open_error(error, file) from error
    for spill in spills:
        shutil.rmtree(spill, ignore_errors=True)
    return opened

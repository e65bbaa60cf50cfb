"""The database file: where a URL puts it, and how it is opened."""

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
"""A backslash parts folders, and the log's ending goes before a question mark: to other places."""


def locate(url: TargetUrl, out: Path) -> Path:
    """The file that a URL names, or the private one under ``out``.

    Raises:
        UsageError: If the URL names no file.
    """
    if url.scheme == "embedded":
        return (out / "engines" / "duckdb" / "dyno.duckdb").absolute()
    return file_of(url, "DuckDB")


def config(file: Path, limits: Limits) -> dict[str, str | int | bool]:
    """What a file is opened with unless a run asks for something else."""
    return {
        "memory_limit": f"{limits.memory_bytes}B",
        "threads": limits.threads,
        "temp_directory": f"{file}.tmp",
        # Rows have no order in SQL; keeping one costs memory and parallelism.
        "preserve_insertion_order": False,
    }


def open_file(
    file: Path,
    limits: Limits,
    *,
    private: bool,
    settings: Mapping[str, str | int] | None = None,
) -> duckdb.DuckDBPyConnection:
    """Opens the file within the limits, or with ``settings``; makes it if it is missing.

    Queries that need more memory spill to ``<file>.tmp``. What a killed Dyno left in there goes if
    the file is ``private``: nobody else can have it open now. The same holds of a folder that
    ``settings`` name, which is Dyno's own.

    Raises:
        TargetError: If it cannot be opened, another process has it open, or DuckDB would take its
            name for that of another file.
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

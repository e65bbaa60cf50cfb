"""Exports the tables of a bundle as CSV or Parquet files for other programs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Literal

from dyno.bundle.reader import Bundle
from dyno.bundle.writer import file_error
from dyno.errors import UsageError
from dyno.safety import safefiles

Format = Literal["csv", "parquet"]

TABLES = ("samples", "queries", "during", "statements", "relations", "columns", "io",
          "io_parts", "io_intervals")  # fmt: skip


def export(bundle: Bundle, folder: Path, kind: Format, *, replace: bool = False) -> list[Path]:
    """Writes each table with rows to ``folder`` as ``<table>.<kind>``, levels as ``ops-<level>``.

    Each file appears whole or not at all. Nothing is written if one of them exists, unless
    ``replace`` is set.

    Raises:
        UsageError: If a file exists, a table is damaged, or there are no rows.
        DiskFullError, TargetError: If a file cannot be written.
    """
    names = [*TABLES, *(f"ops/{level}" for level in bundle.levels())]
    files = {name: folder / f"{name.replace('/', '-')}.{kind}" for name in names}
    taken = [path for path in files.values() if path.exists() or path.is_symlink()]
    if taken and not replace:
        raise UsageError(f"{taken[0]} exists; use --yes to overwrite it, or another folder.")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(parents=True)
    written: list[Path] = []
    for name, path in files.items():
        table = bundle.table(name)
        if table.num_rows:
            try:
                with safefiles.replacing(path, follow=True) as file:
                    _write(table, file, kind)
            except OSError as error:
                raise file_error(error, path) from error
            written.append(path)
    if not written:
        raise UsageError(f"{bundle.place} has no rows to export.")
    return written


def _write(table: object, file: BinaryIO, kind: Format) -> None:
    if kind == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file, compression="zstd")
    else:
        from pyarrow import csv

        csv.write_csv(table, file)


def words(files: Sequence[Path]) -> str:
    """One line for the files that were written."""
    return f"{len(files)} files in {files[0].parent}: {', '.join(path.name for path in files)}"

"""Pieces of a long table: rows that were converted to Parquet while the run goes on.

A recorder that runs for a day would fill its disk with JSON lines. The pieces of a table are in
``pieces/``, numbered in the order of their rows, and follow each other before its spool. The end of
the run joins them.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.bundle.tables import Table, read_table, spool_to_parquet
from dyno.safety.safefiles import replacing

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "pieces"
_NAME = re.compile(r"(?P<table>[a-z_]+)-(?P<number>\d{6})\.(jsonl|parquet)")
_GROUP_ROWS = 1_000_000
_ORDER = ("source", "subject", "metric")
"""Rows of one series compress best next to each other."""


def add(bundle: Path, table: str, spool: Path) -> Path:
    """Moves a spool to the pieces of its table; returns the piece, still as JSON lines.

    Raises:
        OSError: If it cannot be moved.
    """
    folder = bundle / FOLDER
    folder.mkdir(exist_ok=True)
    piece = folder / f"{table}-{len(_stems(bundle, table)) + 1:06}.jsonl"
    spool.rename(piece)
    return piece


def compress(piece: Path, table: str) -> None:
    """Converts a piece to Parquet.

    Raises:
        OSError: If it cannot be written; the piece then remains as it is.
    """
    spool_to_parquet(piece, Table.of(table))


def tables(bundle: Path) -> list[str]:
    """Names of the tables with pieces."""
    found = (_NAME.fullmatch(path.name) for path in (bundle / FOLDER).glob("*"))
    return sorted({one["table"] for one in found if one is not None})


def join(bundle: Path, table: str) -> None:
    """Writes the pieces and the spool of a table as one Parquet file, and removes them.

    Raises:
        OSError: If it cannot be written; they then remain.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = Table.of(table)
    spool = bundle / f"{table}.jsonl"
    if spool.exists():
        add(bundle, table, spool)
    stems = _stems(bundle, table)
    with (
        replacing(bundle / f"{table}.parquet") as file,
        pq.ParquetWriter(file, kind.schema(), compression="zstd") as writer,
    ):
        group: list[pa.Table] = []
        for stem in stems:
            group.append(read_table(bundle, stem, kind))
            if sum(one.num_rows for one in group) >= _GROUP_ROWS:
                writer.write_table(_ordered(pa.concat_tables(group)))
                group = []
        if group:
            writer.write_table(_ordered(pa.concat_tables(group)))
    for stem in stems:
        for ending in ("jsonl", "parquet"):
            (bundle / f"{stem}.{ending}").unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another table's pieces remain
        (bundle / FOLDER).rmdir()


def read(bundle: Path, table: str) -> list[pa.Table]:
    """The pieces of a table of a run that is active or was killed.

    Raises:
        UsageError: If one is damaged.
    """
    if (bundle / f"{table}.parquet").exists():
        return []  # they were joined
    return [read_table(bundle, stem, Table.of(table)) for stem in _stems(bundle, table)]


def _stems(bundle: Path, table: str) -> list[str]:
    """The pieces of a table in order, without their endings, relative to the bundle."""
    found = (_NAME.fullmatch(path.name) for path in (bundle / FOLDER).glob(f"{table}-*"))
    numbers = {int(one["number"]) for one in found if one is not None and one["table"] == table}
    return [f"{FOLDER}/{table}-{number:06}" for number in sorted(numbers)]


def _ordered(rows: pa.Table) -> pa.Table:
    """The rows of each series together, each in the order of time."""
    if not set(_ORDER) <= set(rows.column_names):
        return rows
    return rows.sort_by([(name, "ascending") for name in (*_ORDER, "t_ns")])

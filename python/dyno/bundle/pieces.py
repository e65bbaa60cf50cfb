"""Pieces of a long table: rows that were converted to Parquet while the run goes on.

A recorder that runs for a day would fill its disk with JSON lines. The pieces of a table are in
``pieces/``, numbered in the order of their rows, and follow each other before its spool. The end of
the run joins them.

Samples are written for size: the rows of a series together, and fractions to one part in two
million, far below what any report prints. Whole numbers stay exact.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dyno.bundle.tables import Table, read_table
from dyno.safety.safefiles import replacing

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

FOLDER = "pieces"
_NAME = re.compile(r"(?P<table>[a-z_]+)-(?P<number>\d{6})\.(jsonl|parquet)")
_GROUP_ROWS = 1_000_000
_ORDER = ("source", "subject", "metric")
"""Rows of one series compress best next to each other."""
_DROPPED_BITS = 32
"""Of the 52 bits of a fraction: 20 remain."""


def add(bundle: Path, table: str, spool: Path) -> Path:
    """Moves a spool to the pieces of its table; returns the piece, still as JSON lines.

    Raises:
        OSError: If it cannot be moved.
    """
    folder = bundle / FOLDER
    folder.mkdir(exist_ok=True)
    piece = bundle / f"{stem(table, len(numbers(bundle, table)) + 1)}.jsonl"
    spool.rename(piece)
    return piece


def compress(piece: Path, table: str) -> None:
    """Converts a piece to Parquet, and removes it once the Parquet file is durable.

    Raises:
        OSError: If it cannot be written; the piece then remains as it is.
        UsageError: If it is damaged.
    """
    kind = Table.of(table)
    rows = read_table(piece.parent, piece.stem, kind)
    with replacing(piece.with_suffix(".parquet")) as file, _writer(file, kind) as writer:
        _write(writer, rows)
    piece.unlink()


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

    kind = Table.of(table)
    spool = bundle / f"{table}.jsonl"
    if spool.exists():
        add(bundle, table, spool)
    stems = _stems(bundle, table)
    with replacing(bundle / f"{table}.parquet") as file, _writer(file, kind) as writer:
        group: list[pa.Table] = []
        for one in stems:
            group.append(read_table(bundle, one, kind))
            if sum(rows.num_rows for rows in group) >= _GROUP_ROWS:
                _write(writer, pa.concat_tables(group))
                group = []
        if group:
            _write(writer, pa.concat_tables(group))
    for one in stems:
        for ending in ("jsonl", "parquet"):
            (bundle / f"{one}.{ending}").unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another table's pieces remain
        (bundle / FOLDER).rmdir()


def read(bundle: Path, table: str) -> list[pa.Table]:
    """The pieces of a table of a run that is active or was killed.

    Raises:
        UsageError: If one is damaged.
    """
    if (bundle / f"{table}.parquet").exists():
        return []  # they were joined
    return [read_table(bundle, one, Table.of(table)) for one in _stems(bundle, table)]


def numbers(bundle: Path, table: str) -> list[int]:
    """The numbers of the pieces of a table, in order."""
    found = (_NAME.fullmatch(path.name) for path in (bundle / FOLDER).glob(f"{table}-*"))
    return sorted(
        {int(one["number"]) for one in found if one is not None and one["table"] == table}
    )


def stem(table: str, number: int) -> str:
    """The path of a piece in its bundle, without its ending."""
    return f"{FOLDER}/{table}-{number:06}"


def _stems(bundle: Path, table: str) -> list[str]:
    return [stem(table, number) for number in numbers(bundle, table)]


def _writer(file: BinaryIO, kind: Table) -> pq.ParquetWriter:
    """Writes a Parquet file; samples with the encodings that suit sorted series."""
    import pyarrow.parquet as pq

    if kind is not Table.SAMPLES:
        return pq.ParquetWriter(file, kind.schema(), compression="zstd")
    # Series have the same times, which take less space as a dictionary than as differences.
    repeated: Any = [name for name in kind.value if name != "value"]  # its stub takes a bool
    return pq.ParquetWriter(
        file, kind.schema(), compression="zstd", use_dictionary=repeated,
        column_encoding={"value": "BYTE_STREAM_SPLIT"},
    )  # fmt: skip


def _write(writer: pq.ParquetWriter, rows: pa.Table) -> None:
    """Writes rows as one group, so that all series of a time are in the same."""
    writer.write_table(_ordered(rows), row_group_size=max(1, rows.num_rows))


def _ordered(rows: pa.Table) -> pa.Table:
    """The rows of each series together, each in the order of time, with shortened values."""
    if not set(_ORDER) <= set(rows.column_names):
        return rows
    rows = rows.sort_by([(name, "ascending") for name in (*_ORDER, "t_ns")])
    at = rows.schema.get_field_index("value")
    return rows.set_column(at, rows.schema.field(at), _shortened(rows.column(at)))


def _shortened(column: pa.ChunkedArray) -> pa.Array:
    """Fractions rounded to fewer bits, so that the others are zeros, which compress."""
    import numpy as np
    import pyarrow as pa

    values = column.to_numpy()
    bits = np.ascontiguousarray(values).view(np.int64)
    even = (bits >> _DROPPED_BITS) & 1
    half = (1 << (_DROPPED_BITS - 1)) - 1
    short = ((bits + half + even) >> _DROPPED_BITS << _DROPPED_BITS).view(np.float64)
    whole = ~np.isfinite(values) | (values == np.rint(values))
    return pa.array(np.where(whole, values, short), from_pandas=True)

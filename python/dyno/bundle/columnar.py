"""Arrow batches into columnar files: Parquet, and Arrow's own file format (IPC)."""

from __future__ import annotations

import io
import stat
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("parquet", "arrow")
"""Names of the formats, which are also their file extensions."""

GROUP_ROWS = 122_880
"""Rows of a row group or batch: what analytic engines read at a time (DuckDB's own size)."""


class Nowhere(io.RawIOBase):
    """A file that counts bytes and keeps none."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any, /) -> int:
        """Counts."""
        size = memoryview(data).nbytes
        self.count += size
        return size

    def tell(self) -> int:
        """Bytes so far."""
        return self.count


def is_device(path: Path) -> bool:
    """Whether what is written there is not kept, as with ``/dev/null``."""
    try:
        return stat.S_ISCHR(path.stat().st_mode)
    except OSError:
        return False


def write(
    reader: pa.RecordBatchReader,
    sink: BinaryIO | Nowhere,
    file_format: str,
    prose: Collection[str] = (),
) -> int:
    """Writes all batches, regrouped; memory does not grow with the file. Returns the rows.

    Args:
        reader: The batches.
        sink: Where they go.
        file_format: One of ``FORMATS``.
        prose: Columns of sentences. Parquet gets no least and greatest value of them, which would
            let no reader skip a row group and take time to find.

    Raises:
        OSError: If it cannot be written.
    """
    rows = 0
    groups = _groups(reader, file_format)
    first = next(groups, None)
    with _writer(sink, reader.schema, file_format, first, prose) as writer:
        while first is not None:
            writer.write_table(first)
            rows += first.num_rows
            first = None  # two groups are never held at once
            first = next(groups, None)
    return rows


def _groups(reader: pa.RecordBatchReader, file_format: str) -> Iterator[pa.Table]:
    """The batches put together to groups. A batch of Arrow's format is one piece, so is copied."""
    held: list[Any] = []
    rows = 0
    for batch in reader:
        held.append(batch)
        rows += batch.num_rows
        del batch
        if rows >= GROUP_ROWS:
            yield _table(held, file_format)
            rows = 0
    if held:
        yield _table(held, file_format)


def _table(held: list[Any], file_format: str) -> pa.Table:
    """The batches as one table; the list is emptied, so that they are not held beside a copy."""
    import pyarrow as pa

    table = pa.Table.from_batches(held)
    held.clear()
    return table.combine_chunks() if file_format == "arrow" else table


@contextmanager
def _writer(
    sink: BinaryIO | Nowhere,
    schema: pa.Schema,
    file_format: str,
    first: pa.Table | None,
    prose: Collection[str],
) -> Generator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if file_format == "arrow":
        # Uncompressed, so that readers can map the file.
        with pa.ipc.new_file(sink, schema) as writer:
            yield writer
        return
    repeated = [] if first is None else _repeated(first)
    ranged = [name for name in schema.names if name not in prose]
    # A group is never cut in two. Decimals as integers, as other writers have them, take less work
    # here and in readers than as bytes.
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        use_dictionary=cast("Any", repeated or False),
        write_statistics=cast("Any", ranged or False),
        store_decimal_as_integer=True,
    ) as writer:
        yield writer


def _repeated(table: pa.Table) -> list[str]:
    """Columns whose values come twice on average; others gain nothing from a dictionary."""
    import pyarrow.compute as pc

    sample = table.slice(0, 8192)
    return [
        name
        for name in table.column_names
        if pc.call_function("count_distinct", [sample[name]]).as_py() * 2 <= sample.num_rows
    ]

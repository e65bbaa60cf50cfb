"""Tables of others, measured before they are read: a small file may unpack to any size.

What a Parquet file holds is known by its footer and by the heads of its pages. A footer may lie
about its pages, and a page about its content, so both are looked at.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dyno.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

LARGEST = 4 << 30
"""Bytes of a table, as a file and unpacked; a day of samples has a quarter."""
ALWAYS = 64 << 20
"""Bytes that a table of any file may unpack to."""
RATIO = 1000
"""Bytes that each byte of a file may unpack to beyond that; tables of runs have up to 50."""
LONGEST_LINE = 8 << 20
"""Bytes of a line; five histograms of half a megabyte are the longest."""
_TEXT = "BYTE_ARRAY"
_TYPES = {"BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE", _TEXT}
_COLUMNS = 64
_PAGES = 200_000
_MAGIC = 4
"""Bytes before the first page."""
_HEAD = 64 << 10
"""Bytes of a page's head: statistics of the longest text are in it."""


class DamagedError(UsageError):
    """A table whose file cannot be read. A library's own words are for those who wrote it."""

    reason = "the file is truncated, or was not written by Dyno"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is damaged: {self.reason}.")


def read_parquet(file: BinaryIO, path: Path, known: Iterable[str]) -> pa.Table:
    """A table from a Parquet file, of a size that fits the file's.

    Args:
        file: The file, from its start.
        path: Its name, for messages.
        known: Names of the columns that are wanted; others stay unread.

    Raises:
        UsageError: If it is damaged, or would unpack to more than any table of a run.
    """
    import pyarrow as pa

    with _damage(path), _opened(file, path, known) as (parquet, wanted, budget):
        found = parquet.read(wanted)
        if _text_bytes(found) > budget:
            raise _too_large(path)
        return pa.table([_plain(column) for column in found.columns], names=found.column_names)


def parquet_batches(
    file: BinaryIO, path: Path, known: Iterable[str], rows: int
) -> Iterator[pa.RecordBatch]:
    """Batches of at most ``rows`` rows; texts stay dictionaries. See :func:`read_parquet`.

    A group of rows that is no longer than that is never divided between two batches.
    """
    import pyarrow as pa

    with _damage(path), _opened(file, path, known) as (parquet, wanted, budget):
        total = 0
        for groups in _alike(parquet.metadata, rows):
            for batch in parquet.iter_batches(rows, row_groups=groups, columns=wanted):
                total += _text_bytes(pa.table(batch))
                if total > budget:
                    raise _too_large(path)
                yield batch


def _alike(metadata: Any, rows: int) -> Iterator[list[int]]:
    """Numbers of groups that have at most ``rows`` rows together, or of one that has more."""
    found: list[int] = []
    total = 0
    for number in range(metadata.num_row_groups):
        more = metadata.row_group(number).num_rows
        if found and total + more > rows:
            yield found
            found, total = [], 0
        found.append(number)
        total += more
    if found:
        yield found


@contextlib.contextmanager
def _damage(path: Path) -> Generator[None]:
    """Turns the errors of a damaged file into one."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, LookupError, ValueError, OverflowError) as error:
        raise DamagedError(path) from error


@contextlib.contextmanager
def _opened(
    file: BinaryIO, path: Path, known: Iterable[str]
) -> Generator[tuple[pq.ParquetFile, list[str], int]]:
    """The file once its footer and pages are checked, its wanted columns, and its budget in bytes.

    Texts that repeat stay places in a list until their sum is known.
    """
    import pyarrow.parquet as pq

    size = file.seek(0, 2)
    budget = min(LARGEST, max(ALWAYS, RATIO * size))
    metadata = pq.read_metadata(file)
    columns = [metadata.schema.column(number) for number in range(metadata.num_columns)]
    wanted = {one.path: one for one in columns if one.path in set(known)}
    if any(one.physical_type not in _TYPES for one in wanted.values()):
        raise ValueError("a column has another type")
    chunks = list(_chunks(metadata, set(wanted)))
    _require_footer(metadata, chunks, size, budget, path)
    _require_pages(file, chunks, budget, path)
    texts = [name for name, one in wanted.items() if one.physical_type == _TEXT]
    with pq.ParquetFile(file, metadata=metadata, read_dictionary=texts) as parquet:
        yield parquet, list(wanted), budget


def lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Whole lines of a file; a last one that a kill cut off is left out.

    Raises:
        UsageError: If one is longer than any.
    """
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise UsageError(f"{path} is damaged: a line is longer than {LONGEST_LINE:,} bytes.")
        if not line.endswith(b"\n"):
            break
        yield line


def _require_footer(
    metadata: Any, chunks: list[tuple[Any, int]], size: int, budget: int, path: Path
) -> None:
    """Refuses too many rows or columns, and chunks that do not lie in the file."""
    if not 0 <= metadata.num_columns <= _COLUMNS or metadata.num_rows * 4 > budget:
        raise _too_large(path)
    rows = unpacked = 0
    for chunk, group_rows in chunks:
        # Eight bytes a number, four for the place of a text among those that differ.
        rows += max(group_rows, chunk.num_values) * (4 if chunk.physical_type == _TEXT else 8)
        unpacked += max(chunk.total_uncompressed_size, 0)
        if not 0 <= _start(chunk) <= _start(chunk) + chunk.total_compressed_size <= size:
            raise ValueError("a column is outside the file")
    if max(rows, unpacked) > budget:
        raise _too_large(path)


def _require_pages(file: BinaryIO, chunks: list[tuple[Any, int]], budget: int, path: Path) -> None:
    """Refuses pages that would unpack to more than the footer says they do."""
    total = pages = 0
    for chunk, _ in chunks:
        at, end = _start(chunk), _start(chunk) + chunk.total_compressed_size
        while at < end:
            file.seek(at)
            head = _Head(file.read(min(_HEAD, end - at)))
            fields = head.struct()
            unpacked, packed = fields.get(2, -1), fields.get(3, -1)
            if unpacked < 0 or packed < 0:
                raise ValueError("a page without a size")
            total += unpacked
            pages += 1
            if total > budget or pages > _PAGES:
                raise _too_large(path)
            at += head.at + packed


def _chunks(metadata: Any, names: set[str]) -> Iterator[tuple[Any, int]]:
    """Columns of groups of rows that have any, and how many."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for column in range(group.num_columns):
            chunk = group.column(column)
            if chunk.path_in_schema in names and (chunk.num_values or group.num_rows):
                yield chunk, group.num_rows


def _start(chunk: Any) -> int:
    """Where its first page is, as the reader finds it; only one without values has none."""
    dictionary: int = chunk.dictionary_page_offset or 0
    data: int = chunk.data_page_offset
    if data < _MAGIC and chunk.num_values:
        raise ValueError("a column starts before its first page")
    return min(dictionary, data) if dictionary > 0 else data


def _text_bytes(table: pa.Table) -> int:
    """Bytes of all texts, once each is written out."""
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute  # its functions are made as it is imported
    total = 0
    for column in table.columns:
        if not pa.types.is_dictionary(column.type):
            continue
        for chunk in column.chunks:
            lengths = pc.cast(pc.binary_length(chunk.dictionary), pa.int64())
            total += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    return total


def _plain(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _too_large(path: Path) -> UsageError:
    return UsageError(f"{path} would unpack to more than its size allows; Dyno did not read it.")


class _Head:
    """The head of a Parquet page: Thrift's compact protocol, of which integers are kept."""

    def __init__(self, content: bytes) -> None:
        self._bytes = content
        self.at = 0

    def struct(self, depth: int = 0) -> dict[int, int]:
        """Integers of a structure by their field numbers; all else is passed over.

        Raises:
            IndexError: If it is cut short.
            ValueError: If it is none.
        """
        if depth > 8:
            raise ValueError("a page header is nested too deep")
        found: dict[int, int] = {}
        number = 0
        while kind := self._byte():
            number = number + (kind >> 4) if kind >> 4 else self._zigzag()
            value = self._value(kind & 15, depth)
            if value is not None:
                found[number] = value
        return found

    def _value(self, kind: int, depth: int, *, listed: bool = False) -> int | None:
        match kind:
            case 1 | 2:  # in a list a truth takes a byte
                self.at += listed
            case 3:
                self.at += 1
            case 4 | 5 | 6:
                return self._zigzag()
            case 7:
                self.at += 8
            case 8:
                length = self._varint()
                self.at += length
            case 9 | 10:
                size = self._byte()
                count = self._varint() if size >> 4 == 15 else size >> 4
                for _ in range(min(count, _HEAD)):
                    self._value(size & 15, depth, listed=True)
            case 12:
                self.struct(depth + 1)
            case _:
                raise ValueError("a page header is invalid")
        return None

    def _byte(self) -> int:
        self.at += 1
        return self._bytes[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

"""Follows a table of a bundle: the rows so far, then those that a running run appends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from pydantic_core import from_json

from dyno.bundle import pieces
from dyno.bundle.tables import Table, to_arrow
from dyno.errors import UsageError
from dyno.live.bins import Array
from dyno.live.sampled import numbers
from dyno.safety import bounded, safefiles

_BLOCK = 1 << 20
"""Bytes of a spool that are parsed at once."""
_ROWS = 1 << 17
"""Rows of a Parquet file that are read at once."""
_SAMPLES = 1 << 21
"""The same for samples: a group of rows is sorted by series, and a latency needs its requests."""
_OPS = 1 << 13
"""The same for operations: decoded histograms take up to some kilobytes each."""
_COLUMNS = {
    Table.OPS: ("t_ns", "seconds", "op", "done", "rolled_back", "errors", "response"),
    Table.IO: ("t_ns", "seconds", "reads", "writes", "read_latency", "write_latency"),
}
"""Columns that the page shows, of tables with further histograms."""


class Tail:
    """Reads each row of a table once, from its spool, its pieces or its Parquet file.

    A spool that ends as Parquet, or as a piece of a long table (``dyno.bundle.pieces``), is read to
    its end through the descriptor. A new spool of the same name, as of a repeated test, is read
    from its start; a spool that became shorter, from its new end.

    Attributes:
        until_ns: The newest moment of a table whose end is known before its rows are read.
    """

    def __init__(self, bundle: Path, name: str) -> None:
        self._bundle, self._name = bundle, name
        self._table = Table.of(name)
        self._columns = _COLUMNS.get(self._table, tuple(self._table.value))
        self._most_rows = {Table.SAMPLES: _SAMPLES, Table.OPS: _OPS}.get(self._table, _ROWS)
        self._file: BinaryIO | None = None
        self._rest = b""
        self._whole = self._began = False
        self._piece = 0  # the newest piece that was read
        self._newest_ns = self.until_ns = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yields the new rows. Texts are dictionaries; maps are JSON text.

        Raises:
            UsageError: If the file is damaged or no regular file.
        """
        for batch in self._unread():
            self._began = True
            if self._table is Table.SAMPLES:
                self._newest_ns = max(self._newest_ns, int(_moments(batch).max(initial=0)))
            yield batch

    def close(self) -> None:
        """Closes the spool."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _unread(self) -> Iterator[pa.RecordBatch]:
        while not self._whole:
            if self._file is None:
                yield from self._pieces()
                if not self._open():
                    if (self._bundle / f"{self._name}.parquet").exists():
                        self._whole = True
                        yield from self._stored()
                    return
            file = self._file
            if file is None:
                return
            yield from self._appended(file)
            if self._file is not None:
                return

    def _pieces(self) -> Iterator[pa.RecordBatch]:
        """Yields the rows of new pieces, unless they were joined."""
        for number in self._new_pieces():
            stem = self._bundle / pieces.stem(self._name, number)
            for path in (stem.with_suffix(".parquet"), stem.with_suffix(".jsonl")):
                try:
                    file = safefiles.open_regular(path, limit=bounded.LARGEST, below=self._bundle)
                except FileNotFoundError:
                    continue
                self._rest = b""
                with file:
                    yield from self._of(file, path)
                break
            else:
                return  # it became Parquet, or was joined, in between: looked at again
            self._piece = number

    def _new_pieces(self) -> list[int]:
        if (self._bundle / f"{self._name}.parquet").exists():
            return []
        return [one for one in pieces.numbers(self._bundle, self._name) if one > self._piece]

    def _of(self, file: BinaryIO, path: Path) -> Iterator[pa.RecordBatch]:
        if path.suffix == ".jsonl":
            yield from self._lines(file)
        else:
            for batch in bounded.parquet_batches(file, path, self._columns, self._most_rows):
                yield from _parts(batch) if self._table is Table.SAMPLES else [batch]

    def _open(self) -> bool:
        """Opens the spool, unless it became a piece meanwhile."""
        path = self._bundle / f"{self._name}.jsonl"
        try:
            self._file, self._rest = safefiles.open_regular(path, below=self._bundle), b""
        except FileNotFoundError:
            return False
        if self._new_pieces():
            self.close()
            return False
        return True

    def _stored(self) -> Iterator[pa.RecordBatch]:
        """Yields the rows of the whole table that are new: all, or those after the newest read."""
        if self._began and not self._piece:
            return
        path, newest_ns = self._bundle / f"{self._name}.parquet", self._newest_ns
        with safefiles.open_regular(path, limit=bounded.LARGEST, below=self._bundle) as file:
            if self._table in (Table.OPS, Table.SAMPLES):
                for batch in bounded.parquet_batches(file, path, ("t_ns",), _SAMPLES):
                    self.until_ns = max(self.until_ns, int(_moments(batch).max(initial=0)))
            for batch in self._of(file, path):
                fresh = _moments(batch) > newest_ns if self._piece else None
                if fresh is None or fresh.any():
                    yield batch if fresh is None else batch.filter(pa.array(fresh))

    def _appended(self, file: BinaryIO) -> Iterator[pa.RecordBatch]:
        """Yields the new whole lines; closes a spool that was removed, once it is read."""
        if os.fstat(file.fileno()).st_size < file.tell():
            # A repeated test: the rows of its first attempt were set aside, and new ones follow.
            file.seek(0, os.SEEK_END)
            self._rest = b""
        replaced = self._replaced(file)
        ended = replaced or os.fstat(file.fileno()).st_nlink == 0  # nothing more is written to it
        yield from self._lines(file)
        if ended:
            self.close()
            if next(iter(self._new_pieces()), 0) == self._piece + 1:
                self._piece += 1  # the rows that were just read
            elif replaced:
                self._began, self._piece = False, 0  # a repeated test

    def _lines(self, file: BinaryIO) -> Iterator[pa.RecordBatch]:
        """Yields the whole lines from here on."""
        while True:
            block = file.read(_BLOCK)
            whole, newline, self._rest = (self._rest + block).rpartition(b"\n")
            if len(self._rest) > bounded.LONGEST_LINE:
                raise UsageError(f"{self._name}.jsonl is damaged: a line is too long.")
            if newline and whole.strip():
                yield self._parsed(whole)
            if len(block) < _BLOCK:
                return

    def _replaced(self, file: BinaryIO) -> bool:
        """Whether another file has the spool's name."""
        try:
            now = (self._bundle / f"{self._name}.jsonl").lstat()
        except FileNotFoundError:
            return False
        return now.st_ino != os.fstat(file.fileno()).st_ino

    def _parsed(self, lines: bytes) -> pa.RecordBatch:
        try:
            rows: Any = from_json(b"[" + b",".join(filter(None, lines.split(b"\n"))) + b"]")
            if not all(isinstance(row, dict) for row in rows):
                raise ValueError("a line is not an object")
            found = to_arrow(rows, self._table).combine_chunks()
            return found.to_batches()[0]
        except (pa.ArrowException, ValueError, OverflowError, TypeError, IndexError) as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"{self._name}.jsonl is damaged: {reason}.") from error


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Rows in order of time are divided, which is faster; those sorted by series are not."""
    if (np.diff(_moments(batch)) < 0).any():
        yield batch
        return
    for start in range(0, batch.num_rows, _ROWS):
        yield batch.slice(start, _ROWS)


def _moments(batch: pa.RecordBatch) -> Array:
    return numbers(batch, "t_ns", np.int64)

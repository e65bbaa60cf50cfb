"""Follows a table of a bundle: the rows so far, then those that a running run appends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pydantic_core import from_json

from dyno.bundle.tables import Table, to_arrow
from dyno.errors import UsageError
from dyno.safety import bounded, safefiles

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 20
"""Bytes of a spool that are parsed at once."""
_ROWS = 1 << 16
"""Rows of a Parquet file that are read at once."""


class Tail:
    """Reads each row of a table once, from its spool or its Parquet file.

    A spool that ends as Parquet is read to its end through the descriptor. A new spool of the same
    name, as of a repeated test, is read from its start.
    """

    def __init__(self, bundle: Path, name: str) -> None:
        self._bundle, self._name = bundle, name
        self._table = Table.of(name)
        self._file: BinaryIO | None = None
        self._rest = b""
        self._whole = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yields the new rows. Texts are dictionaries; maps are JSON text.

        Raises:
            UsageError: If the file is damaged or no regular file.
        """
        while not self._whole:
            if self._file is None and not self._open():
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

    def close(self) -> None:
        """Closes the spool."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> bool:
        path = self._bundle / f"{self._name}.jsonl"
        try:
            self._file, self._rest = safefiles.open_regular(path, below=self._bundle), b""
        except FileNotFoundError:
            return False
        return True

    def _stored(self) -> Iterator[pa.RecordBatch]:
        path = self._bundle / f"{self._name}.parquet"
        with safefiles.open_regular(path, limit=bounded.LARGEST, below=self._bundle) as file:
            yield from bounded.parquet_batches(file, path, self._table.value, _ROWS)

    def _appended(self, file: BinaryIO) -> Iterator[pa.RecordBatch]:
        """Yields the new whole lines; closes a spool that was removed, once it is read."""
        while True:
            block = file.read(_BLOCK)
            whole, newline, self._rest = (self._rest + block).rpartition(b"\n")
            if len(self._rest) > bounded.LONGEST_LINE:
                raise UsageError(f"{self._name}.jsonl is damaged: a line is too long.")
            if newline and whole.strip():
                yield self._parsed(whole)
            if len(block) < _BLOCK:
                break
        replaced = self._replaced(file)
        if replaced or os.fstat(file.fileno()).st_nlink == 0:
            # It became Parquet, with the same rows, unless another spool took its place.
            self._whole = not replaced
            self.close()

    def _replaced(self, file: BinaryIO) -> bool:
        """Whether another file has the spool's name."""
        try:
            now = (self._bundle / f"{self._name}.jsonl").lstat()
        except FileNotFoundError:
            return False
        return now.st_ino != os.fstat(file.fileno()).st_ino

    def _parsed(self, lines: bytes) -> pa.RecordBatch:
        import pyarrow as pa

        try:
            rows: Any = from_json(b"[" + b",".join(filter(None, lines.split(b"\n"))) + b"]")
            if not all(isinstance(row, dict) for row in rows):
                raise ValueError("a line is not an object")
            found = to_arrow(rows, self._table).combine_chunks()
            return found.to_batches()[0]
        except (pa.ArrowException, ValueError, OverflowError, TypeError, IndexError) as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"{self._name}.jsonl is damaged: {reason}.") from error

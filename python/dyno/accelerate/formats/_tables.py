"""Columns of text files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dyno.accelerate.trace import LARGEST
from dyno.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyarrow import csv

_MOST_NAMES = 127


def columns(
    path: Path, names: Sequence[str], wanted: Mapping[str, str]
) -> Mapping[str, pa.ChunkedArray[Any]]:
    """Columns of a file of comma-separated values without a head.

    Args:
        path: The file.
        names: All its columns.
        wanted: Those to read, with their types.

    Raises:
        UsageError: If the file has others, or too many rows.
    """
    from pyarrow import csv

    convert = csv.ConvertOptions(column_types=wanted, include_columns=list(wanted))
    table = _joined(_batches(path, csv.ReadOptions(column_names=names), None, convert))
    return {name: table[name] for name in wanted}


def matches(path: Path, pattern: str) -> Mapping[str, pa.ChunkedArray[Any]]:
    """The named groups of a pattern, for the lines of a text file that match it.

    Raises:
        UsageError: If the file is not text, or has too many such lines.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    options = pc.ExtractRegexOptions(pattern)

    def matched(batch: pa.RecordBatch) -> pa.RecordBatch:
        # Not in the module's types.
        found: Any = pc.call_function("extract_regex", [batch["line"]], options)
        return pa.RecordBatch.from_struct_array(found.drop_null())

    read = csv.ReadOptions(column_names=["line"])
    parse = csv.ParseOptions(delimiter="\x01", quote_char=False)
    convert = csv.ConvertOptions(column_types={"line": "string"})
    table = _joined(map(matched, _batches(path, read, parse, convert)))
    return {name: table[name] for name in table.column_names}


def _batches(
    path: Path,
    read: csv.ReadOptions,
    parse: csv.ParseOptions | None,
    convert: csv.ConvertOptions,
) -> Iterator[pa.RecordBatch]:
    """The rows of a file that may be compressed, some at a time."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        with pa.input_stream(path) as stream, csv.open_csv(stream, read, parse, convert) as reader:
            yield from reader
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{path} does not have this format: {reason}") from error


def _joined(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """All rows; the limit holds for what a small compressed file may unpack to as well."""
    import pyarrow as pa

    kept: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        if rows > LARGEST:
            raise UsageError(f"The trace has more than {LARGEST:,} requests. Use a part of it.")
        kept.append(batch)
    if not kept:
        raise UsageError("The trace is empty.")
    return pa.Table.from_batches(kept)


def numbered(texts: Any) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Numbers for texts, in the order in which they first appear, and the texts.

    Raises:
        UsageError: If there are more than 127 different ones.
    """
    coded = texts.combine_chunks() if hasattr(texts, "combine_chunks") else texts
    coded = coded.dictionary_encode()
    names = tuple(map(str, coded.dictionary.to_pylist()))
    if len(names) > _MOST_NAMES:
        raise UsageError(
            f"The trace has {len(names)} devices or files, and the limit is {_MOST_NAMES}."
        )
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int32), names

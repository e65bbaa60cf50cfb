"""Columns of text files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dyno.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_MOST_NAMES = 127


def columns(path: Path, types: Mapping[str, str]) -> Mapping[str, pa.ChunkedArray[Any]]:
    """The columns of a file of comma-separated values without a head.

    Args:
        path: The file.
        types: Names and types of all its columns.

    Raises:
        UsageError: If the file has others.
    """
    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(
            path,
            csv.ReadOptions(column_names=list(types)),
            csv.ParseOptions(),
            csv.ConvertOptions(column_types=types),
        )
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{path} does not have this format: {reason}") from error
    return {name: table[name] for name in types}


def matches(path: Path, pattern: str) -> Mapping[str, pa.Array[Any]]:
    """The named groups of a pattern, for the lines of a text file that match it.

    Raises:
        UsageError: If the file is not text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    try:
        lines = csv.read_csv(
            path,
            csv.ReadOptions(column_names=["line"]),
            csv.ParseOptions(delimiter="\x01", quote_char=False),
            csv.ConvertOptions(column_types={"line": "string"}),
        )["line"].combine_chunks()
    except pa.ArrowInvalid as error:
        raise UsageError(f"{path} is not a text file: {str(error).splitlines()[0]}") from error
    found: Any = pc.call_function(
        "extract_regex",
        [lines],
        pc.ExtractRegexOptions(pattern),  # not in the module's types
    ).drop_null()
    return {field.name: found.field(field.name) for field in found.type}


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

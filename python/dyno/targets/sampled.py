"""Rows of a driver as an Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def as_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """The rows in columns. Values of a type that Arrow does not infer become texts."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table(dict(zip(names, map(_array, columns), strict=True)))


def _array(values: Sequence[Any]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])

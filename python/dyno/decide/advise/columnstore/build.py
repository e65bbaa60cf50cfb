"""A sample of a table, built in column form in memory: Parquet, dictionaries and zstd."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

METHOD = "Parquet with zstd, built in memory"


@dataclass(frozen=True)
class Built:
    """A sample in column form.

    Attributes:
        rows: Rows of the sample.
        bytes: Size in column form.
        distinct: Distinct values in the sample, by column; not known of types without order.
        widths: Mean bytes of a value in memory, by column.
    """

    rows: int
    bytes: int
    distinct: Mapping[str, int]
    widths: Mapping[str, float]


def built(sample: pa.Table) -> Built | None:
    """The sample in column form; None of an empty one."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet as pq

    if not sample.num_rows:
        return None
    pc: Any = pyarrow.compute  # pyarrow creates its functions at import
    sink = pa.BufferOutputStream()
    pq.write_table(sample, sink, compression="zstd")
    distinct: dict[str, int] = {}
    for name in sample.column_names:
        try:
            distinct[name] = int(pc.count_distinct(sample.column(name)).as_py())
        except pa.ArrowNotImplementedError:
            continue
    widths = {name: sample.column(name).nbytes / sample.num_rows for name in sample.column_names}
    return Built(sample.num_rows, sink.getvalue().size, distinct, widths)


def compression(row_bytes: float, found: Built) -> float:
    """Bytes of a row in the table, by its bytes in column form."""
    return row_bytes * found.rows / found.bytes

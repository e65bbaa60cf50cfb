"""The tables of a bundle: their columns, and the way from JSON lines to Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.errors import UsageError
from dyno.safety import bounded, safefiles
from dyno.safety.plainjson import LARGEST
from dyno.safety.safefiles import replacing

if TYPE_CHECKING:
    import pyarrow as pa

SUPERSEDED = "superseded"
"""Folder of first attempts that were repeated (``dyno.bundle.superseded``)."""

_BATCH_BYTES = 4 << 20
"""Of JSON lines that are turned into a table at once: histograms make a few lines many bytes."""

_TEXT, _INT, _FLOAT, _BOOL = "string", "int64", "float64", "bool"


class Table(Enum):
    """A table of the bundle with its columns and Arrow types.

    ``t_ns`` and ``end_ns`` are ns since the Unix epoch; histograms are the public HDR encoding
    (V2, deflated, base64) of nanoseconds; maps of errors are JSON text. ``meter`` of a query says
    as JSON text where its figures come from, or why one is missing; bundles of earlier versions
    lack these columns, which then are empty. ``during`` holds queries round maintenance. Of storage
    ``io`` holds whole steps, ``io_parts`` their jobs and targets, ``io_intervals`` their course.
    """

    SAMPLES = {
        "t_ns": _INT,
        "source": _TEXT,
        "subject": _TEXT,
        "metric": _TEXT,
        "value": _FLOAT,
        "unit": _TEXT,
    }
    QUERIES = {
        "t_ns": _INT,
        "end_ns": _INT,
        "stream": _INT,
        "position": _INT,
        "query": _TEXT,
        "target": _TEXT,
        "parameters": _TEXT,
        "rows": _INT,
        "digest": _TEXT,
        "seconds": _FLOAT,
        "error": _TEXT,
        "error_kind": _TEXT,
        "bytes_read": _INT,
        "temp_bytes": _INT,
        "peak_memory_bytes": _INT,
        "meter": _TEXT,
    }
    DURING = {
        "t_ns": _INT,
        "end_ns": _INT,
        "part": _TEXT,
        "stream": _INT,
        "query": _TEXT,
        "target": _TEXT,
        "seconds": _FLOAT,
        "rows": _INT,
        "error": _TEXT,
        "error_kind": _TEXT,
    }
    IO = {
        "t_ns": _INT,
        "seconds": _FLOAT,
        "volume": _TEXT,
        "arm": _TEXT,
        "stage": _INT,
        "repeat": _INT,
        "phase": _TEXT,
        "level": _INT,
        "purpose": _TEXT,
        "job": _TEXT,
        "pattern": _TEXT,
        "block_bytes": _INT,
        "read_percent": _INT,
        "queue_depth": _INT,
        "rate": _FLOAT,
        "reads": _INT,
        "writes": _INT,
        "syncs": _INT,
        "read_bytes": _INT,
        "write_bytes": _INT,
        "late": _INT,
        "unissued": _INT,
        "errors": _TEXT,
        "read_latency": _TEXT,
        "write_latency": _TEXT,
        "sync_latency": _TEXT,
        "read_response": _TEXT,
        "write_response": _TEXT,
        "in_flight_mean": _FLOAT,
        "inside_ceiling": _BOOL,
    }
    OPS = {
        "t_ns": _INT,
        "seconds": _FLOAT,
        "phase": _TEXT,
        "op": _TEXT,
        "done": _INT,
        "rolled_back": _INT,
        "errors": _TEXT,
        "retries": _TEXT,
        "response": _TEXT,
        "service": _TEXT,
    }

    @classmethod
    def of(cls, name: str) -> Table:
        """The table stored at ``name`` in a bundle: ``samples``, ``ops/users-4`` …"""
        name = name.removeprefix(f"{SUPERSEDED}/")
        if name.startswith("ops/"):
            return cls.OPS
        return cls.IO if name.startswith("io_") else cls[name.upper()]

    def schema(self) -> pa.Schema:
        """The Arrow schema."""
        import pyarrow as pa

        types = {_TEXT: pa.string(), _INT: pa.int64(), _FLOAT: pa.float64(), _BOOL: pa.bool_()}
        return pa.schema([(name, types[kind]) for name, kind in self.value.items()])


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a JSON-lines file. A last line cut off by a kill is left out.

    Raises:
        UsageError: If it is no regular file, or damaged.
    """
    return [record for batch in _batches(path) for record in batch]


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    """The records of a JSON-lines file, so many at a time as fit in a few megabytes of memory."""
    batch: list[dict[str, Any]] = []
    size = 0
    with safefiles.open_regular(path) as file:
        for line in bounded.lines(file, path):
            batch.append(_record(line, path))
            size += len(line)
            if size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
    yield batch


def _record(line: bytes, path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is damaged: a line is not JSON ({error}).") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path} is damaged: a line is not an object.")
    return found  # pyright: ignore[reportUnknownVariableType]


def to_arrow(records: list[dict[str, Any]], table: Table) -> pa.Table:
    """Records as an Arrow table with exactly the columns of ``table``; maps become JSON text."""
    import pyarrow as pa

    schema = table.schema()
    if not records:
        return schema.empty_table()
    columns = {
        field.name: [_flat(record.get(field.name)) for record in records] for field in schema
    }
    return pa.table(columns, schema=schema)


def spool_to_parquet(spool: Path, table: Table) -> Path:
    """Turns a spool into Parquet beside it and removes the spool once the Parquet is durable.

    Raises:
        OSError: If it cannot be written; the spool then stays.
    """
    import pyarrow.parquet as pq

    final = spool.with_suffix(".parquet")
    with (
        replacing(final) as file,
        pq.ParquetWriter(file, table.schema(), compression="zstd") as writer,
    ):
        for records in _batches(spool):
            writer.write_table(to_arrow(records, table))
    spool.unlink()
    return final


def read_table(bundle: Path, name: str) -> pa.Table:
    """A table of a bundle, from Parquet or from the spool of a run that was killed or goes on.

    A table that was never written is empty.

    Raises:
        UsageError: If it is no regular file, damaged, or of an absurd size.
    """
    import pyarrow as pa

    table = Table.of(name)
    try:
        path = bundle / f"{name}.parquet"
        with safefiles.open_regular(path, limit=bounded.LARGEST, below=bundle) as file:
            return _plain(_with_columns(bounded.read_parquet(file, path, table.value), table))
    except FileNotFoundError:
        pass
    spool = bundle / f"{name}.jsonl"
    try:
        parts = [to_arrow(batch, table) for batch in _batches(spool)]
    except FileNotFoundError:
        parts = [table.schema().empty_table()]
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise UsageError(f"{spool} is damaged: {str(error).splitlines()[0]}.") from error
    return _plain(pa.concat_tables(parts))


def counts(text: str | None) -> dict[str, int]:
    """A stored map of counts, such as errors by class, without zeros; empty if it is none."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    items: dict[Any, Any] = found if isinstance(found, dict) else {}
    return {
        str(kind): count
        for kind, count in items.items()
        if type(count) is int and 0 < count < 1 << 63
    }


def _with_columns(found: pa.Table, table: Table) -> pa.Table:
    """Exactly the columns of ``table``: what an earlier version did not write is null.

    (``read_table`` of PyArrow does that too, and loads its clients of four clouds for it.)
    """
    import pyarrow as pa

    schema = table.schema()
    known = set(found.column_names)
    columns = [
        found.column(field.name).cast(field.type)
        if field.name in known
        else pa.nulls(found.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _plain(found: pa.Table) -> pa.Table:
    """The table with null for numbers that are not finite, or that no counter holds."""
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute  # its functions are made as it is imported
    for at, field in enumerate(found.schema):
        if pa.types.is_floating(field.type):
            column = found.column(at)
            absurd = pc.invert(pc.less_equal(pc.abs(column), float(LARGEST)))  # NaN is none less
            if pc.any(absurd).as_py():
                plain = pc.if_else(absurd, pa.scalar(None, field.type), column)
                found = found.set_column(at, field, plain)
    return found


def _flat(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value

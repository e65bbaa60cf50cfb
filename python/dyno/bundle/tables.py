"""The tables of a bundle: columns, and conversion from JSON lines to Parquet."""

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
"""Batch size of the conversion from JSON lines: with histograms a few lines have many bytes."""

_TEXT, _INT, _FLOAT, _BOOL = "string", "int64", "float64", "bool"


class Table(Enum):
    """A table of the bundle with its columns and Arrow types.

    ``t_ns`` and ``end_ns`` are ns since the Unix epoch. Histograms are in the public HDR encoding
    (V2, deflated, base64) of nanoseconds. Error maps are JSON text. ``meter`` of a query is JSON
    text with the source of its metrics, or why one is missing. Bundles of earlier versions lack
    these columns, which are then empty. ``during`` holds the queries of a run with maintenance. For
    storage, ``io`` holds whole steps, ``io_parts`` their jobs and targets, ``io_intervals`` their
    intervals. ``statements`` and ``relations`` hold what a database counted between two points in
    time (``dyno.contracts.inspection`` documents the columns). ``columns`` holds what it knows of
    the columns of its tables (``dyno.contracts.stored_columns``), with facts on the table and the
    server in each row; a table whose columns it cannot read has a row with a ``problem``.
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
        "database": _INT,
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
        "freshness_ms": _FLOAT,
        "newest_age_ms": _FLOAT,
        "workload": _TEXT,
    }
    DURING = {
        "t_ns": _INT,
        "end_ns": _INT,
        "part": _TEXT,
        "stream": _INT,
        "query": _TEXT,
        "target": _TEXT,
        "database": _INT,
        "seconds": _FLOAT,
        "rows": _INT,
        "error": _TEXT,
        "error_kind": _TEXT,
    }
    STATEMENTS = {
        "t_ns": _INT,
        "end_ns": _INT,
        "target": _TEXT,
        "statement": _TEXT,
        "text": _TEXT,
        "calls": _INT,
        "total_ms": _FLOAT,
        "min_ms": _FLOAT,
        "max_ms": _FLOAT,
        "rows": _INT,
        "logical_reads": _INT,
        "physical_reads": _INT,
        "temp_bytes": _INT,
        "plan": _TEXT,
    }
    RELATIONS = {
        "t_ns": _INT,
        "end_ns": _INT,
        "target": _TEXT,
        "relation": _TEXT,
        "kind": _TEXT,
        "of_table": _TEXT,
        "logical_reads": _INT,
        "physical_reads": _INT,
        "writes": _INT,
        "read_ms": _FLOAT,
        "bytes": _INT,
    }
    COLUMNS = {
        "t_ns": _INT,
        "target": _TEXT,
        "needs": _TEXT,
        "counted_s": _FLOAT,
        "relation": _TEXT,
        "rows": _INT,
        "bytes": _INT,
        "of_rows": _INT,
        "changed": _INT,
        "problem": _TEXT,
        "name": _TEXT,
        "type": _TEXT,
        "width": _FLOAT,
        "distinct": _FLOAT,
        "common": _FLOAT,
        "key": _BOOL,
        "large": _BOOL,
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
        "thread_percent": _FLOAT,
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
        """Returns the table stored at ``name`` in a bundle: ``samples``, ``ops/users-4`` …"""
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
    """Returns the records of a JSON-lines file. Skips a last line truncated by a kill.

    Raises:
        UsageError: If it is not a regular file, or is damaged.
    """
    return [record for batch in _batches(path) for record in batch]


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    """Yields the records of a JSON-lines file in batches of a few megabytes."""
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
    """Converts records to an Arrow table with the columns of ``table``. Maps become JSON text."""
    import pyarrow as pa

    schema = table.schema()
    if not records:
        return schema.empty_table()
    columns = {
        field.name: [_flat(record.get(field.name)) for record in records] for field in schema
    }
    return pa.table(columns, schema=schema)


def spool_to_parquet(spool: Path, table: Table) -> Path:
    """Converts a spool to Parquet and removes the spool once the Parquet file is durable.

    Raises:
        OSError: If it cannot be written; the spool then remains.
        UsageError: If it is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    final = spool.with_suffix(".parquet")
    try:
        with (
            replacing(final) as file,
            pq.ParquetWriter(file, table.schema(), compression="zstd") as writer,
        ):
            for records in _batches(spool):
                writer.write_table(to_arrow(records, table))
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise UsageError(f"{spool} is damaged: {str(error).splitlines()[0]}.") from error
    spool.unlink()
    return final


def read_table(bundle: Path, name: str, table: Table | None = None) -> pa.Table:
    """Reads a table of a bundle, from Parquet or from the spool of a killed or active run.

    A table that was never written is empty.

    Args:
        bundle: The bundle folder.
        name: The path of the table in it, without its ending.
        table: Its columns, if its name does not tell.

    Raises:
        UsageError: If it is not a regular file, is damaged, or exceeds the size limit.
    """
    import pyarrow as pa

    table = table or Table.of(name)
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
    """Parses a stored map of counts, such as errors by class. Drops zeros; empty if invalid."""
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
    """Returns the columns of ``table``. Columns that an earlier version did not write are null.

    ``read_table`` of PyArrow also does this, but loads the clients of four cloud providers.
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
    """Replaces non-finite numbers and numbers beyond the counter range with null."""
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute  # pyarrow creates its functions at import
    for at, field in enumerate(found.schema):
        if pa.types.is_floating(field.type):
            column = found.column(at)
            absurd = pc.invert(pc.less_equal(pc.abs(column), float(LARGEST)))  # also true for NaN
            if pc.any(absurd).as_py():
                plain = pc.if_else(absurd, pa.scalar(None, field.type), column)
                found = found.set_column(at, field, plain)
    return found


def _flat(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value

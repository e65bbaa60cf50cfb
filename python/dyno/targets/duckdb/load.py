"""Loads generated rows into DuckDB through Arrow: no files, no copies of rows in Python."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from dyno.contracts import schema
from dyno.contracts.databases import workload_of
from dyno.contracts.target import LoadOutcome, LoadPlan
from dyno.errors import DynoError, Interrupted, TargetError, UsageError
from dyno.targets import mark
from dyno.targets.duckdb import journal
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.targets.duckdb.ddl import quoted
from dyno.targets.duckdb.errors import statement_error
from dyno.targets.journal import Done

if TYPE_CHECKING:
    from dyno import _core

_STREAM = "dyno_stream"

PART_ROWS = 4_000_000
"""Rows per part: half a gigabyte of raw data, a few seconds to repeat."""


def load(session: DuckdbConnection, plan: LoadPlan, control: _core.Control) -> LoadOutcome:
    """Loads one table after another; ``plan.streams`` threads generate each.

    DuckDB parallelizes a single insert, so concurrent inserts gain nothing. Large tables are loaded
    in
    parts, each with its entry in the journal.

    Raises:
        Interrupted: If ``control`` was cancelled; the current part is rolled back.
        UsageError: If ``plan`` resumes a load with other parts.
        TargetError: The error of DuckDB.
    """
    from dyno import _core

    names = tuple(schema.table_names(plan.workload))
    counts = {
        name: _core.rows(workload_of(plan.workload), name, plan.scale, plan.seed, plan.days)[0]
        for name in names
    }
    done = journal.ready(session, plan)
    parts = _remaining(plan, counts, done)
    control.set_total(sum(counts.values()) - sum(part.rows for part in done))
    tables: list[dict[str, Any]] = []
    start = time.monotonic()
    for name in names:
        control.set_step(f"loading {name}")
        before, began = _bytes(control), time.monotonic()
        rows = sum(_load_part(session, plan, name, *part, control) for part in parts[name])
        tables.append(
            {
                "table": name,
                "rows": rows,
                "bytes": _bytes(control) - before,
                "seconds": time.monotonic() - began,
            }
        )
    return LoadOutcome(
        tuple(tables),
        time.monotonic() - start,
        sum(table["rows"] for table in tables),
        sum(table["bytes"] for table in tables),
    )


def _remaining(
    plan: LoadPlan, counts: dict[str, int], done: list[Done]
) -> dict[str, list[tuple[int, int]]]:
    """The missing parts of each table: (number from 1, total)."""
    # A sorted table is loaded in one part: sorted parts are not a sorted table.
    cut = {
        name: 1 if _order(plan, name) else max(1, math.ceil(rows / PART_ROWS))
        for name, rows in counts.items()
    }
    for part in done:
        if cut.get(part.table) != part.parts:
            raise UsageError(
                f"The interrupted load used other parts: {part.table} in {part.parts} parts, "
                f"not {cut.get(part.table)}. Use --replace to start again."
            )
    whole = {(part.table, part.part) for part in done}
    return {
        name: [(part, of) for part in range(1, of + 1) if (name, part) not in whole]
        for name, of in cut.items()
    }


def _load_part(
    session: DuckdbConnection,
    plan: LoadPlan,
    table: str,
    part: int,
    parts: int,
    control: _core.Control,
) -> int:
    """Loads one part with its journal entry in one transaction; returns the number of rows."""
    from dyno import _core

    threads = max(1, plan.streams)
    stream = _core.arrow_stream(
        workload_of(plan.workload),
        table,
        plan.scale,
        plan.seed,
        threads,
        control,
        parts,
        part,
        plan.days,
    )
    session.execute("BEGIN")
    try:
        rows = insert(session, plan.workload, table, stream, _order(plan, table))
        journal.record(session, plan.workload, Done(table, part, parts, rows))
        session.execute("COMMIT")
    except BaseException as error:
        with contextlib.suppress(DynoError):  # report the first error
            session.execute("ROLLBACK")
        if control.cancelled and isinstance(error, TargetError):
            # The stream failed, and DuckDB does not report the cause.
            raise Interrupted(f"Interrupted while loading {table}.") from error
        raise
    return rows


def insert(
    session: DuckdbConnection,
    workload: str,
    table: str,
    stream: object,
    by: Sequence[str] = (),
) -> int:
    """Inserts all rows of an Arrow stream (``__arrow_c_stream__``) into a table.

    Args:
        session: A session.
        workload: The workload of the table.
        table: The table.
        stream: The rows.
        by: Columns to sort by first; the sort spills if necessary.

    Returns:
        The number of rows that DuckDB reports.
    """
    # DuckDB opens a bare stream twice, the first time for its schema; a reader caches that.
    reader = pa.RecordBatchReader.from_stream(stream)
    try:
        session.raw.register(_STREAM, reader)
    except duckdb.Error as error:
        raise statement_error(error) from error
    try:
        place = quoted(mark.schema_of(workload), table)
        order = f" ORDER BY {', '.join(map(quoted, by))}" if by else ""
        return int(session.execute(f"INSERT INTO {place} FROM {_STREAM}{order}").rows[0][0])
    finally:
        # After an error, DuckDB only accepts the end of the transaction, which also releases the
        # stream.
        with contextlib.suppress(duckdb.Error):
            session.raw.unregister(_STREAM)


def _order(plan: LoadPlan, table: str) -> Sequence[str]:
    """The columns by which the layout sorts a table."""
    return plan.layout.design(table).cluster if plan.layout else ()


def _bytes(control: _core.Control) -> int:
    return int(control.progress()["bytes"])

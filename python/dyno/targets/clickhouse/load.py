"""Loads generated rows into ClickHouse: Arrow through a pipe, without files.

The generator runs in Dyno's process and writes Arrow batches to a pipe. The engine's process passes
them to chdb's streaming insert, the fastest of its public interfaces (``benches/``).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dyno.contracts import schema
from dyno.contracts.databases import workload_of
from dyno.contracts.target import LoadOutcome, LoadPlan
from dyno.errors import Interrupted, TargetError, error_of_kind
from dyno.targets import mark
from dyno.targets.clickhouse import design
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from dyno import _core

    Connect = Callable[[int | None], ClickhouseConnection]

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_WORTH_PARTS = 100_000
"""Smaller tables are loaded by one stream, because each stream creates its own set of files."""
_LITTLE_BYTES = 64 << 20
"""Free space below this explains why ClickHouse lost rows."""


def load(connect: Connect, plan: LoadPlan, control: _core.Control) -> LoadOutcome:
    """Loads one table after another, each in ``plan.streams`` concurrent parts, rows in one.

    Args:
        connect: Opens a session; takes the read end of a pipe if the session loads rows.
        plan: The load.
        control: Receives progress; cancels.

    Raises:
        Interrupted: If ``control`` was cancelled; rows already written remain in a table that is
            marked as incomplete.
        TargetError: The error of ClickHouse, or that it silently lost rows.
    """
    from dyno import _core

    workload, names = workload_of(plan.workload), schema.table_names(plan.workload)
    expected = {
        name: int(_core.rows(workload, name, plan.scale, plan.seed, plan.days)[0]) for name in names
    }
    control.set_total(sum(expected.values()))
    tables: list[dict[str, Any]] = []
    start = time.monotonic()
    for name in names:
        control.set_step(f"loading {name}")
        before, began = _bytes(control), time.monotonic()
        split = expected[name] >= _WORTH_PARTS and not design.in_rows(name, plan.layout)
        parts = max(1, plan.streams) if split else 1  # a file of rows has one writer
        with _all_kept(connect, plan.workload, name) as counted:
            rows = _table(connect, plan, name, parts, control)
            counted.append(rows)
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


def insert(connect: Connect, workload: str, table: str, stream: object) -> int:
    """Inserts all rows of an Arrow stream (``__arrow_c_stream__``) into a table.

    Returns:
        The number of rows that ClickHouse reports.

    Raises:
        DatabaseError, TargetError: The error of ClickHouse, else the error of the stream.
    """
    reader = pa.RecordBatchReader.from_stream(stream)
    with _pipe() as (read, write):
        session = connect(read)
        os.close(read)
    with closing(session), open(write, "wb", buffering=_PIPE_BYTES) as sink:  # noqa: PTH123
        columns = ", ".join(quoted(name) for name in reader.schema.names)
        session.insert(f"INSERT INTO {quoted(mark.schema_of(workload), table)} ({columns})")
        try:
            with pa.ipc.new_stream(sink, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
            sink.close()
        except BrokenPipeError:
            # ClickHouse stopped reading, and reports why.
            _close(sink)
            session.end(commit=False)
            raise
        except BaseException:
            _close(sink)
            with contextlib.suppress(TargetError):
                session.end(commit=False)
            raise
        return session.end(commit=True)


def _table(connect: Connect, plan: LoadPlan, name: str, parts: int, control: _core.Control) -> int:
    """Loads one table; one thread per part generates and inserts it."""
    from dyno import _core

    rows: list[int] = []
    failures: list[BaseException] = []

    def work(part: int) -> None:
        try:
            stream = _core.arrow_stream(
                workload_of(plan.workload),
                name,
                plan.scale,
                plan.seed,
                1,
                control,
                parts,
                part,
                plan.days,
            )
            rows.append(insert(connect, plan.workload, name, stream))
        except BaseException as error:
            if not control.cancelled:
                failures.append(error)
                control.cancel()  # stops the other parts

    threads = [threading.Thread(target=work, args=(part,)) for part in range(1, parts + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    if control.cancelled:
        raise Interrupted(f"Interrupted while loading {name}.")
    return sum(rows)


@contextlib.contextmanager
def _all_kept(connect: Connect, workload: str, name: str) -> Generator[list[int]]:
    """Verifies that the table has grown by the rows appended to the list.

    On a full volume, the streaming insert ends without an error and reports all rows as written.

    Raises:
        TargetError: If rows are missing.
    """
    # A table in rows has no file before its first row.
    count = (
        f"SELECT count() FROM {quoted(mark.schema_of(workload), name)} "  # noqa: S608
        "SETTINGS engine_file_empty_if_not_exists = 1"
    )
    free_space = "SELECT min(unreserved_space) FROM system.disks"
    sent: list[int] = []
    with closing(connect(None)) as session:
        before = int(session.execute(count).rows[0][0])
        yield sent
        kept = int(session.execute(count).rows[0][0]) - before
        if kept == sum(sent):
            return
        free = int(session.execute(free_space).rows[0][0])
    raise error_of_kind(
        "disk_full" if free < _LITTLE_BYTES else "database",
        f"ClickHouse stored {kept:,} of {sum(sent):,} rows of {name} and reported no error; "
        f"its volume has {free >> 20:,} MiB of free space.",
    )


@contextlib.contextmanager
def _pipe() -> Generator[tuple[int, int]]:
    """A pipe with a large buffer; both ends are closed if the block fails."""
    import fcntl

    read, write = os.pipe()
    try:
        with contextlib.suppress(OSError):  # above the user's limit: keep the default size
            fcntl.fcntl(write, _F_SETPIPE_SZ, _PIPE_BYTES)
        yield read, write
    except BaseException:
        for handle in (read, write):
            with contextlib.suppress(OSError):
                os.close(handle)
        raise


def _close(sink: Any) -> None:
    with contextlib.suppress(OSError):  # discards what its buffer still holds
        sink.close()


def _bytes(control: _core.Control) -> int:
    return int(control.progress()["bytes"])

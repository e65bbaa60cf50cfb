"""Keys, indexes and statistics after a load, one statement after another.

SQLite has one writer; it spreads the sort of an index over its helper threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.errors import Interrupted
from dyno.targets.base import Progress
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.ddl import is_rowid, quoted
from dyno.targets.stoppable import stoppable
from dyno.workloads.base import Index

_INTERRUPTED = "Interrupted while adding keys and indexes."


@dataclass(frozen=True)
class Step:
    """One statement, and what it is called in the record."""

    name: str
    statement: str


def steps(tables: Sequence[dict[str, Any]], indexes: Sequence[Index]) -> list[Step]:
    """Primary keys, secondary indexes, and the statistics of each table.

    Names of indexes are shared with tables, so they begin with ``dyno_``. Tables are analysed one
    by one: a bare ``ANALYZE`` would gather statistics on tables that are not Dyno's.
    """
    keyed = [table for table in tables if table["primary_key"] and not is_rowid(table)]
    return [
        *(
            Step(
                f"primary key {table['name']}",
                _create(
                    "UNIQUE INDEX", f"{table['name']}_key", table["name"], table["primary_key"]
                ),
            )
            for table in keyed
        ),
        *(
            Step(f"index {index.name}", _create("INDEX", index.name, index.table, index.columns))
            for index in indexes
        ),
        *(Step(f"analyse {table['name']}", f"ANALYZE {quoted(table['name'])}") for table in tables),
    ]


WRITE_AHEAD = Step("write-ahead log", "PRAGMA journal_mode = WAL")
"""Makes a writer and readers work side by side. It stays with the file, so it is not for a file
that holds more than Dyno's tables."""


def run(
    session: SqliteConnection, work: Sequence[Step], stop: threading.Event, progress: Progress
) -> dict[str, Any]:
    """Runs the steps; returns seconds a step, and ``total``.

    Raises:
        Interrupted: If ``stop`` was set.
        TargetError: What SQLite met.
    """
    seconds: dict[str, Any] = {}
    start = time.monotonic()
    with stoppable(session, stop, _INTERRUPTED):
        for number, step in enumerate(work):
            if stop.is_set():
                raise Interrupted(_INTERRUPTED)
            progress(number, len(work), step.name)
            began = time.monotonic()
            session.execute(step.statement)
            seconds[step.name] = time.monotonic() - began
    progress(len(work), len(work), "")
    return {**seconds, "total": time.monotonic() - start}


def _create(what: str, name: str, table: str, columns: Sequence[str]) -> str:
    listed = ", ".join(map(quoted, columns))
    return f"CREATE {what} IF NOT EXISTS {quoted(f'dyno_{name}')} ON {quoted(table)} ({listed})"

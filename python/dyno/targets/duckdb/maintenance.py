"""Maintenance of DuckDB: reads and hashes every row and column; there are no indexes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from dyno.bundle.model import Check
from dyno.contracts import schema
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets import mark
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.targets.duckdb.ddl import quoted

LACKS = {
    "reindex": "a column store has no indexes to rebuild",
    "backup": "it has no online backup: a copy of an open file is inconsistent",
    "quick-check": "its integrity check is a scan, with no indexes to leave out",
    "create-database": "a new database is an empty file that grows on demand",
    "sliding-window": "it has no partitioned tables",
    "vacuum": "its VACUUM only collects statistics; checkpoints remove deleted rows",
}

_DAMAGE = ("checksum", "corrupt")


class DuckdbScan:
    """Implements the protocol. DuckDB verifies the checksum of each block that it reads.

    The digest of a scan is compared with that of a first scan before the workload starts.
    """

    method = (
        "reads and hashes every column of every row, one snapshot per table; DuckDB "
        "verifies block checksums on read"
    )
    estimate = SpaceEstimate(0, "a scan writes nothing")

    def __init__(self, connect: Callable[[], DuckdbConnection], spill: Path, workload: str) -> None:
        self._session: DuckdbConnection = connect()
        self._spill = spill
        self._workload = workload
        self._tables = schema.visible_names(workload)
        self._first: dict[str, tuple[Any, ...] | str] = {}
        try:
            with closing(connect()) as other:
                self._first = {table: self._scan(other, table) for table in self._tables}
        except BaseException:
            self.close()
            raise

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Scans every table."""
        checks: list[Check] = []
        for number, table in enumerate(self._tables):
            progress(number, len(self._tables), f"scan of {table}")
            try:
                found = self._scan(self._session, table)
            except DynoError as error:
                if stop.is_set():
                    raise Interrupted("The integrity check was stopped.") from error
                raise
            if stop.is_set():
                raise Interrupted("The integrity check was stopped.")
            checks.append(_compared(table, self._first[table], found))
        progress(len(self._tables), len(self._tables), "")
        return checks

    def space(self) -> int | None:
        """Bytes spilled next to the file."""
        total = 0
        for file in self._spill.rglob("*") if self._spill.exists() else ():
            try:
                total += file.stat().st_size
            except OSError:  # removed meanwhile
                continue
        return total

    def cancel(self) -> None:
        """Stops the running scan."""
        self._session.cancel()

    def close(self) -> None:
        """Ends the session."""
        self._session.close()

    def _scan(self, session: DuckdbConnection, table: str) -> tuple[Any, ...] | str:
        """Row count and digest of a table, or its damage."""
        place = quoted(mark.schema_of(self._workload), table)
        names = next(item for _, item in schema.visible(self._workload) if item["name"] == table)
        columns = ", ".join(quoted(column["name"]) for column in names["columns"])
        # A sum of hashes is independent of row order and detects duplicates.
        statement = f"SELECT count(*), sum(hash({columns})) FROM {place}"  # noqa: S608  (quoted)
        try:
            return session.execute(statement).rows[0]
        except DynoError as error:
            if any(word in str(error).lower() for word in _DAMAGE):
                return str(error)
            raise


def _compared(table: str, first: tuple[Any, ...] | str, now: tuple[Any, ...] | str) -> Check:
    passed = False
    if isinstance(now, str):
        message = now
    elif isinstance(first, str):
        message = first
    elif now != first:
        message = f"{now[0]:,} rows now, {first[0]:,} before, or other values"
    else:
        passed, message = True, f"{now[0]:,} rows read, unchanged"
    name = f"integrity-check {table}"
    return Check(name=name, target="duckdb", passed=passed, message=message)

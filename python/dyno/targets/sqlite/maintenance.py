"""Online maintenance of SQLite: ``PRAGMA integrity_check``, and ``REINDEX``.

With a write-ahead log, neither blocks queries, which read the previous state. With a rollback
journal, a writer blocks every reader, so reindex is not available then. Writing transactions wait
for a reindex, one index at a time, as for each other.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from dyno.bundle.model import Check
from dyno.contracts import schema
from dyno.contracts.maintenance import Job, Maintenance, SpaceEstimate
from dyno.contracts.target import Connection, Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets.sqlite.ddl import literal, quoted
from dyno.workspace.footprint import occupied

Connect = Callable[[], Connection]

_OLDEST = (3, 33)
_STOPPED = "The maintenance was stopped."
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_FRAME_HEADER = 24

_LOCKED_OUT = (
    "this file has a rollback journal, with which a writer blocks all readers; "
    "PRAGMA journal_mode = WAL avoids that"
)


def prepare(connect: Connect, file: Path, workload: str, name: Maintenance) -> Job | str:
    """The maintenance of a workload's tables, or the reason why it is impossible."""
    if name in ("integrity-check", "quick-check"):
        if sqlite3.sqlite_version_info < _OLDEST:
            return f"SQLite {sqlite3.sqlite_version} cannot check single tables (needs 3.33)"
        kind = IntegrityCheck if name == "integrity-check" else QuickCheck
        return kind(connect, file, workload)
    with closing(connect()) as session:
        if session.execute("PRAGMA journal_mode").rows != [("wal",)]:
            return _LOCKED_OUT
        found = indexes(session, workload)
        if not found:
            return "the layout has no indexes"
        sizes = _sizes(session, list(found))
        page = int(session.execute("PRAGMA page_size").rows[0][0])
    return Reindex(connect, file, found, sizes, page)


def indexes(session: Connection, workload: str) -> dict[str, str]:
    """Indexes of a workload's tables, with their table."""
    names = ", ".join(map(literal, schema.visible_names(workload)))
    rows = session.execute(
        "SELECT name, tbl_name FROM sqlite_master "  # noqa: S608  (quoted)
        f"WHERE type = 'index' AND sql IS NOT NULL AND lower(tbl_name) IN ({names}) ORDER BY name"
    ).rows
    return {str(name): str(table) for name, table in rows}


_LOG_GROWS = (
    "meanwhile the write-ahead log grows with all concurrent writes, which the estimate excludes"
)


class _Work:
    """Base of both jobs: a session per round, and the space on the file's volume.

    A session caches pages. With the cache of an earlier round, the file would not be read again.
    """

    def __init__(self, connect: Connect, file: Path) -> None:
        self._connect = connect
        self._file = file
        self._session: Connection | None = None
        self._before = occupied([file])
        self._begun = False

    def space(self) -> int | None:
        """Growth of the file and its log, without the spilled data of sorts."""
        return max(0, occupied([self._file]) - self._before)

    def cancel(self) -> None:
        """See the protocol."""
        session = self._session
        if session is not None:
            session.cancel()

    def close(self) -> None:
        """Closes the session; SQLite rolls back incomplete work."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _begin(self) -> Connection:
        self.close()
        if not self._begun:
            # Growth before that is not caused by the maintenance.
            self._before, self._begun = occupied([self._file]), True
        self._session = self._connect()
        return self._session


class IntegrityCheck(_Work):
    """Implements the protocol."""

    name = "integrity-check"
    pragma = "integrity_check"
    method = (
        "PRAGMA integrity_check of every table: its pages and their order, types and "
        "NULLs, each index against the rows, then the free list. Pages have no "
        "checksums, so a changed value that breaks none of these goes unnoticed. It "
        "blocks no query; with a rollback journal it blocks writers"
    )
    estimate = SpaceEstimate(0, f"the check only reads; {_LOG_GROWS}")

    def __init__(self, connect: Connect, file: Path, workload: str) -> None:
        super().__init__(connect, file)
        self._tables = schema.visible_names(workload)

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Checks every table with its indexes, then the free list of the file."""
        session = self._begin()
        steps = [(name, f"{self.name} {name}") for name in self._tables]
        steps.append(("sqlite_master", f"{self.name} free pages"))
        checks: list[Check] = []
        for number, (table, name) in enumerate(steps):
            progress(number, len(steps), name)
            fault = _fault(session, f"PRAGMA {self.pragma}({quoted(table)})", stop)
            message = "sound" if fault is None else fault
            checks.append(Check(name=name, target="sqlite", passed=fault is None, message=message))
        progress(len(steps), len(steps), "")
        return checks


class QuickCheck(IntegrityCheck):
    """The same without the comparison of indexes with rows, which takes most of the time."""

    name = "quick-check"
    pragma = "quick_check"
    method = (
        "PRAGMA quick_check of every table: its pages and their order, types and NULLs, then the "
        "free list; indexes are not compared with the rows, and UNIQUE is not verified"
    )


class Reindex(_Work):
    """Implements the protocol. Rebuilds one index after another, each in its own transaction."""

    def __init__(
        self,
        connect: Connect,
        file: Path,
        found: dict[str, str],
        sizes: dict[str, int] | None,
        page_size: int,
    ) -> None:
        """Prepares the job.

        Args:
            connect: Opens a session.
            file: The database file.
            found: Indexes, with their table.
            sizes: Their bytes; None if this SQLite does not report them.
            page_size: The page size in bytes.
        """
        super().__init__(connect, file)
        self._indexes = found
        self.method = (
            f"REINDEX of {len(found)} indexes, one after another; queries read the state "
            "from before, and a second writer would wait"
        )
        if sizes is None:
            size, what = self._before, "at most the file, as this SQLite has no dbstat"
        else:
            size, what = sum(sizes.values()), "every page of all indexes"
        self.estimate = SpaceEstimate(
            size * (page_size + _FRAME_HEADER) // page_size,
            f"the write-ahead log takes {what}: it restarts only when nobody reads from it. "
            "Sorts larger than the cache also spill as much as their index, which the "
            f"estimate excludes; {_LOG_GROWS}",
        )

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Rebuilds every index."""
        session = self._begin()
        for number, name in enumerate(self._indexes):
            progress(number, len(self._indexes), f"reindex of {name}")
            _execute(session, f"REINDEX {quoted(name)}", stop)
        progress(len(self._indexes), len(self._indexes), "")
        lost = [name for name in self._indexes if not _usable(session, name, self._indexes[name])]
        message = f"{len(self._indexes)} indexes rebuilt, all usable"
        if lost:
            message = f"unusable after the rebuild: {', '.join(lost)}"
        return [Check(name="reindex", target="sqlite", passed=not lost, message=message)]


def _execute(session: Connection, sql: str, stop: threading.Event) -> list[tuple[object, ...]]:
    if stop.is_set():
        raise Interrupted(_STOPPED)
    try:
        return session.execute(sql).rows
    except DynoError as error:
        if stop.is_set():
            raise Interrupted(_STOPPED) from error
        raise


def _fault(session: Connection, pragma: str, stop: threading.Event) -> str | None:
    """The damage that a pragma finds; None if there is none."""
    try:
        rows = _execute(session, pragma, stop)
    except Interrupted:
        raise
    except DynoError as error:
        cause = error.__cause__
        if not (isinstance(cause, sqlite3.Error) and _code(cause) in _DAMAGE):
            raise
        return str(error)
    if rows == [("ok",)]:
        return None
    first = " ".join(str(rows[0][0]).split()) if rows else "it returned no result"
    return f"{len(rows)} faults, the first: {first}" if len(rows) > 1 else first


def _usable(session: Connection, name: str, table: str) -> bool:
    """Whether a query can use an index."""
    sql = f"SELECT 1 FROM {quoted(table)} INDEXED BY {quoted(name)} LIMIT 1"  # noqa: S608  (quoted)
    try:
        session.execute(sql)
    except DynoError as error:
        if isinstance(error.__cause__, sqlite3.OperationalError):
            return False
        raise
    return True


def _sizes(session: Connection, names: list[str]) -> dict[str, int] | None:
    """Bytes of indexes; None if this SQLite was built without ``dbstat``."""
    try:
        return {
            name: int(
                session.execute(
                    "SELECT coalesce(sum(pgsize), 0) FROM dbstat "  # noqa: S608  (quoted)
                    f"WHERE aggregate = TRUE AND name = {literal(name)}"
                ).rows[0][0]
            )
            for name in names
        }
    except DynoError as error:
        if "no such table" in str(error):
            return None
        raise


def _code(error: sqlite3.Error) -> int:
    """The primary result code."""
    return int(getattr(error, "sqlite_errorcode", None) or 0) & 0xFF

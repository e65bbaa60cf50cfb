"""SQLite's online backup: copies the whole file page by page."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import Interrupted, TargetError
from dyno.targets.backup import Backup
from dyno.targets.sqlite.apart import ApartSession
from dyno.targets.sqlite.apart_child import PAGES
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.errors import classed

_COPY = "copy.sqlite"


class FileBackup(Backup):
    """Implements the protocol. A read transaction keeps the copy in one snapshot.

    Without it, every change by another session would restart the copy.
    """

    method = (
        "SQLite's online backup, in one read transaction, synced; it blocks writers "
        "with a rollback journal, and lets a write-ahead log grow"
    )

    def __init__(self, connect: Callable[[], SqliteConnection], file: Path, out: Path) -> None:
        """Prepares the backup.

        Raises:
            DiskFullError: If there is not enough space.
            TargetError: If the file or the folder cannot be used.
        """
        with closing(connect()) as session:
            size = _pages(session) * int(session.execute("PRAGMA page_size").rows[0][0])
        super().__init__(out, SpaceEstimate(size, "a copy of the file"))
        self._connect = connect
        self._file = file
        self._source = (0, 0)

    def _write(self, place: Path, stop: threading.Event, progress: Progress) -> None:
        self._source = self._copied(place / _COPY, stop, progress)

    def _copied(self, file: Path, stop: threading.Event, progress: Progress) -> tuple[int, int]:
        """Copies to ``file``; returns the pages and schema objects of the source."""

        def step(_status: int, left: int, total: int) -> None:
            if stop.is_set():
                raise Interrupted("The backup was stopped.")
            progress(total - left, total, "backup")

        with closing(self._connect()) as session:
            session.execute("BEGIN")
            names = session.execute("SELECT count(*) FROM sqlite_master").rows[0][0]
            pages = _pages(session)
            try:
                with closing(sqlite3.connect(file)) as copy:
                    session.raw.backup(copy, pages=PAGES, progress=step)
            except sqlite3.Error as error:
                raise classed(error, file) from error
        return pages, int(names)

    def _proven(self, place: Path) -> Check:
        file = place / _COPY
        try:
            with closing(sqlite3.connect(file)) as copy:
                found = int(copy.execute("PRAGMA page_count").fetchone()[0])
                held = int(copy.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        except sqlite3.Error as error:
            raise classed(error, file) from error
        pages, names = self._source
        message = f"{found:,} pages of {pages:,}, {held} of {names} tables and indexes"
        passed = (found, held) == self._source
        return Check(name="backup", target="sqlite", passed=passed, message=message)


class ApartBackup(FileBackup):
    """A backup from another process, while the driver has the file open in this one."""

    def __init__(
        self,
        connect: Callable[[], SqliteConnection],
        apart: Callable[[], ApartSession],
        file: Path,
        out: Path,
    ) -> None:
        """Prepares the backup; ``connect`` opens a session before the driver opens the file."""
        super().__init__(connect, file, out)
        self._apart = apart
        self._session: ApartSession | None = None

    def cancel(self) -> None:
        """Stops it after the current pages."""
        super().cancel()
        session = self._session
        if session is not None:
            session.cancel()

    def _copied(self, file: Path, stop: threading.Event, progress: Progress) -> tuple[int, int]:  # noqa: ARG002
        with closing(self._apart()) as session:
            self._session = session
            try:
                # Cancelling sets the event first, then reads the session, so no order misses it.
                if stop.is_set():
                    raise Interrupted("The backup was stopped.")
                return session.backup(file)
            except TargetError as error:
                if stop.is_set():
                    raise Interrupted("The backup was stopped.") from error
                raise
            finally:
                self._session = None


def _pages(session: SqliteConnection) -> int:
    return int(session.execute("PRAGMA page_count").rows[0][0])

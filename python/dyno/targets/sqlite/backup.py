"""SQLite's online backup: the whole file copied page by page while it is used."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from dyno.errors import Interrupted
from dyno.model import Check
from dyno.targets.base import Progress
from dyno.targets.maintenance import SpaceEstimate
from dyno.targets.scratch import Scratch, Written
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.errors import classed

_PAGES = 256
"""At a time: between two such steps it can be stopped."""


class Backup:
    """See the protocol. A read transaction keeps the copy as of one moment.

    Without it every change by another session would have the copy begin again.
    """

    method = (
        "the online backup of SQLite, in one read transaction, synced; with a rollback journal a "
        "writer would wait for it, with a write-ahead log the log grows meanwhile"
    )

    def __init__(self, connect: Callable[[], SqliteConnection], file: Path, out: Path) -> None:
        """Made ready.

        Raises:
            DiskFullError: If there is no room for it.
            TargetError: If the file or the folder cannot be used.
        """
        self._connect = connect
        self._file = file
        self._stopped = threading.Event()
        with closing(connect()) as session:
            size = _pages(session) * int(session.execute("PRAGMA page_size").rows[0][0])
        self.estimate = SpaceEstimate(size, "the file once more")
        self._scratch = Scratch(out, size)

    @property
    def written(self) -> Written:
        """What the copies wrote."""
        return self._scratch.written

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Takes one copy, looks whether it is whole, and removes it."""
        self._stopped.clear()

        def step(_status: int, left: int, total: int) -> None:
            if stop.is_set() or self._stopped.is_set():
                raise Interrupted("The backup was stopped.")
            progress(total - left, total, "backup")

        with self._scratch.backup() as place, closing(self._connect()) as session:
            session.execute("BEGIN")
            pages = _pages(session)
            names = session.execute("SELECT count(*) FROM sqlite_master").rows[0][0]
            file = place / "copy.sqlite"
            try:
                with closing(sqlite3.connect(file)) as copy:
                    session.raw.backup(copy, pages=_PAGES, progress=step)
                    found = copy.execute("PRAGMA page_count").fetchone()[0]
                    held = copy.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            except sqlite3.Error as error:
                raise classed(error, file) from error
        passed = (found, held) == (pages, names)
        message = f"{found:,} pages of {pages:,}, {held} of {names} tables and indexes"
        return [Check(name="backup", target="sqlite", passed=passed, message=message)]

    def space(self) -> int | None:
        """Bytes in the scratch folder."""
        return self._scratch.size()

    def cancel(self) -> None:
        """Stops it after the pages under way."""
        self._stopped.set()

    def close(self) -> None:
        """Removes what was written."""
        self._scratch.remove()


def _pages(session: SqliteConnection) -> int:
    return int(session.execute("PRAGMA page_count").rows[0][0])

"""SQLite as a target: a row store in a file, inside Dyno's own process."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from dyno import schema, workloads
from dyno.errors import TargetError, UsageError
from dyno.layouts.model import Layout
from dyno.model import TargetFacts
from dyno.targets.base import (
    Capabilities,
    Connection,
    Limits,
    Loaded,
    LoadOutcome,
    LoadPlan,
    Progress,
    TargetUrl,
)
from dyno.targets.insert import insert_values
from dyno.targets.sqlite import ddl, index
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.file import locate, open_session, spill_folder
from dyno.targets.sqlite.load import SETTINGS, load
from dyno.targets.sqlite.translate import to_sqlite

_NO_WIRE = "SQLite is not driven with transactions: the driver has no wire for it yet"

_PRAGMAS = (
    "auto_vacuum",
    "busy_timeout",
    "cache_size",
    "encoding",
    "journal_mode",
    "mmap_size",
    "page_size",
    "secure_delete",
    "synchronous",
    "temp_store",
    "threads",
)
_WORDS = {
    "auto_vacuum": ("none", "full", "incremental"),
    "synchronous": ("off", "normal", "full", "extra"),
    "temp_store": ("default", "file", "memory"),
}


class SqliteTarget:
    """See the protocol. Each workload has a file of its own; a URL names that file."""

    name = "sqlite"

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        self.url = url
        self.capabilities = Capabilities(oltp=_NO_WIRE)
        self._limits = limits
        self._out = out
        self._lock = threading.Lock()
        self._sessions: set[SqliteConnection] = set()
        self._loading = False
        self._new: set[Path] = set()
        locate(url, out, "")

    def __enter__(self) -> SqliteTarget:
        """Looks whether the file can be used.

        Raises:
            TargetError: If it cannot be opened, is no database, or is locked.
        """
        if self.url.scheme == "embedded":
            folder = self._file().parent
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                message = f"Cannot make {folder}: {error.strerror}. Give another --out DIR."
                raise TargetError(message, kind="io") from error
        self.connect().close()
        return self

    def __exit__(self, *exc: object) -> None:
        """Closes what is still open, and removes files that were made and stayed empty."""
        with self._lock:
            left = list(self._sessions)
        for session in left:
            session.close()
        for file in self._new:
            with contextlib.suppress(OSError):
                if file.stat().st_size == 0:
                    file.unlink()

    def facts(self) -> TargetFacts:
        """Version and settings, read back from a session."""
        from dyno import _core

        with closing(self.connect()) as session:
            found = {name: _shown(session, name) for name in _PRAGMAS}
        loader = json.loads(_core.parts())["sqlite"]
        return TargetFacts(
            url=self.url.redacted,
            local=True,
            version=f"SQLite {sqlite3.sqlite_version}",
            settings={
                **found,
                "temp_directory": spill_folder(),
                "loader": f"SQLite {loader}",
                **{f"loader.{name}": _words(name, value) for name, value in SETTINGS.items()},
            },
        )

    def connect(self, workload: str = "") -> SqliteConnection:
        """A new session with the file of ``workload``.

        Raises:
            TargetError: If the file cannot be opened.
        """
        file = self._file(workload)
        with self._lock:
            if self._loading:
                raise TargetError(f"{file} is being loaded: no session may have it open.")
            if not file.exists():
                self._new.add(file)
            session = SqliteConnection(open_session(file, self._limits), file, self._left)
            self._sessions.add(session)
        return session

    def create_tables(
        self,
        workload: str,
        *,
        replace: bool,
        layout: Layout | None = None,  # noqa: ARG002  (none but its own)
    ) -> None:
        """Creates the workload's tables, without indexes (see the protocol)."""
        with closing(self.connect(workload)) as session:
            ddl.create_tables(session, self._file(workload), workload, replace=replace)

    def loaded(self, workload: str) -> Loaded | None:
        """What is loaded, by Dyno's mark."""
        with closing(self.connect(workload)) as session:
            return ddl.loaded(session, workload)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect(workload)) as session:
            ddl.set_mark(session, workload, loaded)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates the rows and inserts them, by the compiled loader.

        Raises:
            TargetError: If a session is open (see ``dyno.targets.sqlite.load``).
        """
        with self._lock:
            if self._sessions:
                raise TargetError("A session has the SQLite file open, so that it cannot load.")
            self._loading = True
        try:
            return load(self._file(plan.workload), plan, control)
        finally:
            self._loading = False

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:  # noqa: ARG002
        """Adds generated rows by INSERT."""
        return insert_values(connection, rows, ddl.literal)

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Adds keys and indexes and gathers statistics; returns seconds a step.

        A file with nothing but Dyno's tables is given a write-ahead log then.
        """
        work = index.steps(schema.tables(workload), workloads.get(workload).indexes)
        with closing(self.connect(workload)) as session:
            if ddl.only_dynos(session):
                work.append(index.WRITE_AHEAD)
            return index.run(session, work, control, progress)

    def wire(self, workload: str = "") -> dict[str, Any]:  # noqa: ARG002
        """There is no wire.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{_NO_WIRE}.")

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """The statement in SQLite's words: its dates, and arithmetic of constants worked out."""
        return to_sqlite(neutral)

    def data_paths(self) -> list[Path]:
        """The database file, or the folder of Dyno's own."""
        file = self._file()
        return [file.parent if self.url.scheme == "embedded" else file]

    def process_ids(self) -> list[int]:
        """None: it runs inside Dyno's own process."""
        return []

    def _file(self, workload: str = "") -> Path:
        return locate(self.url, self._out, workload)

    def _left(self, session: SqliteConnection) -> None:
        with self._lock:
            self._sessions.discard(session)


def _shown(session: SqliteConnection, name: str) -> str:
    rows = session.execute(f"PRAGMA {name}").rows
    return _words(name, rows[0][0]) if rows else "unknown"


def _words(name: str, value: Any) -> str:
    words = _WORDS.get(name, ())
    return words[value] if isinstance(value, int) and 0 <= value < len(words) else str(value)

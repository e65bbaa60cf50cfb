"""SQLite as a target: a row store in a file, in Dyno's own process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from dyno import workloads
from dyno.bundle.model import Applied, TargetFacts
from dyno.config.settings import Setting
from dyno.contracts import schema
from dyno.contracts.advice import Catalog
from dyno.contracts.cold import Emptied
from dyno.contracts.databases import home_of
from dyno.contracts.hypothetical import Planner
from dyno.contracts.isolation import Isolation
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import Job, Maintenance
from dyno.contracts.plans import QueryPlan
from dyno.contracts.target import (
    Capabilities,
    Connection,
    Limits,
    Loaded,
    LoadOutcome,
    LoadPlan,
    Progress,
    TargetUrl,
)
from dyno.errors import TargetError
from dyno.host.pagecache import empty
from dyno.targets.insert import insert_values
from dyno.targets.sqlite import (
    catalog,
    ddl,
    design,
    drive,
    facts,
    hypothetical,
    index,
    maintenance,
    plans,
    tuning,
)
from dyno.targets.sqlite.apart import ApartSession
from dyno.targets.sqlite.backup import ApartBackup, FileBackup
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.file import locate, open_session, settings, siblings, spilled
from dyno.targets.sqlite.isolation import ISOLATION
from dyno.targets.sqlite.load import load
from dyno.targets.sqlite.meter import SqliteMeter
from dyno.targets.sqlite.queries import NOT_NEUTRAL, own
from dyno.targets.sqlite.variants import of
from dyno.workspace.footprint import Probe, occupied

_NO_PROCEDURES = "SQLite has no stored procedures: it runs inside its client"
_NOT_MIXED = (
    "queries and transactions use two copies of SQLite in one process, and a session that one of "
    "them closes releases the file locks of the other"
)

_WHOLE = (
    "a load is one transaction, so an interrupted one leaves nothing to resume; "
    "start again with --replace"
)

_NO_PARTITIONS = "it has no partitioned tables"
_NO_COPY = "a new database is an empty file that grows on demand"
_NO_VACUUM = "its VACUUM rewrites the whole file and blocks all writers"
_ONE_FILE = (
    "a URL names one file, which is one database with one writer; several files share no server"
)


class SqliteTarget:
    """Implements the protocol. Each workload has its own file; a URL names that file."""

    name = "sqlite"
    SEVERAL_DATABASES: ClassVar = _ONE_FILE
    LACKS_MAINTENANCE: ClassVar = {
        "vacuum": _NO_VACUUM,
        "sliding-window": _NO_PARTITIONS,
        "create-database": _NO_COPY,
    }

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        self.url = url
        self.capabilities = Capabilities(
            neutral=NOT_NEUTRAL,
            cold=True,
            resume=_WHOLE,
            procedure=_NO_PROCEDURES,
            mixed=_NOT_MIXED,
        )
        self._limits = limits
        self._out = out
        self._lock = threading.Lock()
        self._sessions: set[SqliteConnection] = set()
        self._loading = False
        self._driven = False
        self._new: set[Path] = set()
        self._changes: list[tuning.Change] = []
        self._applied: tuple[Applied, ...] = ()
        self._folder: str | None = None  # the original folder of temporary files
        locate(url, out, "")

    def __enter__(self) -> SqliteTarget:
        """Checks that the file can be used.

        Raises:
            TargetError: If it cannot be opened, is not a database, or is locked.
            UsageError: If this SQLite does not support a requested setting.
        """
        if self.url.scheme == "embedded":
            folder = self._file().parent
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                message = f"Cannot create {folder}: {error.strerror}. Use another --out DIR."
                raise TargetError(message, kind="io") from error
        before = self._settings_before()
        chosen = next(
            (str(item.amount) for item in self._changes if item.name == tuning.FOLDER), ""
        )
        if chosen:
            self._folder = tuning.set_folder(chosen)
        try:
            self._verify(before)
        except BaseException:
            self._give_back()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        """Closes open sessions, and removes files that Dyno created and that are still empty."""
        with self._lock:
            left = list(self._sessions)
        for session in left:
            session.close()
        self._give_back()
        for file in self._new:
            with contextlib.suppress(OSError):
                if file.stat().st_size == 0:
                    file.unlink()

    def tune(self, asked: Sequence[Setting]) -> None:
        """Stores settings for the start (see :class:`dyno.contracts.tuning.Tunable`)."""
        self._changes = tuning.changes(asked)
        self._applied = ()

    def tuned(self) -> tuple[Applied, ...]:
        """The applied settings, as read back."""
        return self._applied

    def cool(self) -> Emptied:
        """Evicts the files from the page cache; SQLite's own cache ends with its sessions.

        Raises:
            TargetError: If a session is open, or Dyno cannot verify that nothing is cached.
        """
        with self._lock:
            if self._sessions or self._loading:
                raise TargetError(
                    "Cannot start cold: another session has the SQLite file open.", kind="busy"
                )
        places = self.data_paths()
        every = [file for place in places for file in _files(place)]
        for file in every:
            if _is_open(file):
                raise TargetError(
                    f"Cannot start cold: {file} is still open in this process.", kind="busy"
                )
        return empty(every)

    def _settings_before(self) -> dict[str, str]:
        """The values before the run's settings; also checks that the file can be used."""
        asked, self._changes = self._changes, []
        try:
            with closing(self.connect()) as session:
                names = [item.name for item in asked]
                found = {name: tuning.read(session.raw, name) for name in names}
                return {name: "" if it is None else str(it) for name, it in found.items()}
        finally:
            self._changes = asked

    def _verify(self, before: Mapping[str, str]) -> None:
        if not self._changes:
            return
        with closing(self.connect()) as session:
            size = tuning.page_size(session.raw)
            found = tuning.verify(
                self._changes, size, lambda name: tuning.read(session.raw, name), before
            )
            self._applied = tuple(found)

    def _give_back(self) -> None:
        """Restores the process-wide folder of temporary files; others end with their sessions."""
        if self._folder is not None:
            tuning.set_folder(self._folder)
            self._folder = None
        self._applied = tuple(item.model_copy(update={"restored": True}) for item in self._applied)

    def facts(self) -> TargetFacts:
        """Version and settings, read back from a session."""
        with closing(self.connect()) as session:
            found = facts.settings(session, self._changes)
        for workload in self._own_files():
            # An unreadable file is reported on its first use.
            with contextlib.suppress(TargetError), closing(self.connect(workload)) as session:
                found[f"journal_mode of {workload}"] = facts.shown(session, "journal_mode")
        return TargetFacts(
            url=self.url.redacted, place="process", version=facts.version(), settings=found
        )

    def _own_files(self) -> list[str]:
        """Workloads with a private file, each with its journal mode."""
        if self.url.scheme != "embedded":
            return []
        names = dict.fromkeys(map(home_of, workloads.names()))
        return [name for name in names if self._file(name).exists()]

    def connect(self, workload: str = "") -> SqliteConnection:
        """Opens a session on the file of ``workload``.

        Raises:
            TargetError: If the file cannot be opened, or the loader or the driver has it open.
        """
        file = self._file(workload)
        with self._lock:
            if self._loading:
                raise TargetError(f"Cannot open {file}: a load is running.")
            if self._driven and not self._sessions:
                if _is_open(file):
                    raise TargetError(f"Cannot open {file}: a run is active.")
                self._driven = False
            if not file.exists():
                self._new.add(file)
            session = SqliteConnection(
                open_session(file, self._limits, self._changes), file, self._left
            )
            self._sessions.add(session)
        return session

    def create_tables(self, workload: str, *, replace: bool, layout: Layout | None = None) -> None:
        """Creates the workload's tables, without indexes (see the protocol)."""
        with closing(self.connect(workload)) as session:
            ddl.create_tables(
                session, self._file(workload), workload, replace=replace, layout=layout
            )

    def loaded(self, workload: str) -> Loaded | None:
        """The loaded data, according to Dyno's mark."""
        with closing(self.connect(workload)) as session:
            return ddl.loaded(session, workload)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect(workload)) as session:
            ddl.set_mark(session, workload, loaded)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates and inserts the rows with the Rust loader.

        Raises:
            TargetError: If a session is open (see ``dyno.targets.sqlite.load``).
        """
        with closing(self.connect(plan.workload)) as session:
            shared = not ddl.only_dynos(session)
        with self._lock:
            if self._sessions:
                raise TargetError("Cannot load: another session has the SQLite file open.")
            self._loading = True
        try:
            file = self._file(plan.workload)
            return load(file, plan, control, self._changes, shared=shared)
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
        layout: Layout | None = None,
    ) -> dict[str, Any]:
        """Sorts clustered tables, adds keys and indexes, and gathers statistics.

        A file with only Dyno's tables then gets a write-ahead log.

        Returns:
            Seconds per step, and ``space`` as in the protocol.
        """
        work = design.steps(schema.tables(workload), workloads.get(workload), layout)
        probe = partial(_occupied, [self._file(workload)])
        with closing(self.connect(workload)) as session:
            if ddl.only_dynos(session):
                work.append(design.WRITE_AHEAD)
            return index.run(session, work, probe, control, progress)

    def space_probe(self) -> tuple[Probe, bool] | None:
        """The file, its journal or log, and unnamed temporary files."""
        return partial(_occupied, self.data_paths()), True

    def data_bytes(self, workload: str) -> int:
        """Bytes of the workload's file."""
        return self._file(workload).stat().st_size

    def isolation(self) -> Isolation:
        """Its only level (see :mod:`dyno.contracts.isolation`)."""
        return ISOLATION

    def wire(self, workload: str = "") -> dict[str, Any]:
        """The file and the settings of each session.

        Raises:
            TargetError: If a session is open (see ``dyno.targets.sqlite.drive``).
        """
        with self._lock:
            if self._sessions:
                raise TargetError("Cannot run: another session has the SQLite file open.")
        with closing(self.connect(workload)) as session:
            page_size = tuning.page_size(session.raw)
        self._driven = True
        return drive.wire(self._file(workload), self._changes, page_size)

    def sql(self, workload: str, name: str, neutral: str) -> str:
        """The statement in SQLite's dialect, with rewrites for its planner."""
        return own(workload, name, neutral)

    def variants(self, workload: str) -> Mapping[str, str]:
        """Queries that are rewritten for SQLite's planner, and how."""
        return of(workload).reasons

    def meter(self, connection: Connection) -> SqliteMeter:
        """A meter of bytes read and spilled, from kernel counters."""
        assert isinstance(connection, SqliteConnection)  # noqa: S101  (one of its own)
        return SqliteMeter(connection)

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query."""
        assert isinstance(connection, SqliteConnection)  # noqa: S101  (one of its own)
        return plans.explain(connection, sql, analyse=analyse)

    @contextlib.contextmanager
    def planner(self, workload: str) -> Generator[Planner | str]:
        """A planner of hypothetical indexes (see :mod:`dyno.contracts.hypothetical`)."""
        with closing(self.connect(workload)) as session, hypothetical.planner(session) as found:
            yield found

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """An integrity check or a backup; with a write-ahead log also a reindex."""
        if (reason := self.LACKS_MAINTENANCE.get(name)) is not None:
            return reason
        file = self._file(workload)
        here = partial(self.connect, workload)
        if not ddl.exact(workload):
            if name == "backup":
                return FileBackup(here, file, self._out)
            return maintenance.prepare(here, file, workload, name)
        # During transactions, the driver has the file open in this process.
        with closing(self.connect(workload)) as session:
            asked = drive.asked(self._changes, tuning.page_size(session.raw))
        apart = partial(ApartSession, file, {**settings(self._limits), **asked})
        if name == "backup":
            return ApartBackup(here, apart, file, self._out)
        return maintenance.prepare(apart, file, workload, name)

    def catalog(self) -> Catalog:
        """What advice needs (see :mod:`dyno.contracts.advice`), of all its files."""
        settings = self.facts().settings
        known = dict.fromkeys(map(home_of, workloads.names()))
        names = ["", *known] if self.url.scheme == "embedded" else [""]
        with contextlib.ExitStack() as stack:
            sessions = [
                stack.enter_context(closing(self.connect(name)))
                for name in names
                if self._file(name).is_file()
            ]
            return catalog.read(settings, sessions)

    def data_paths(self) -> list[Path]:
        """The database file, or the folder of private files."""
        file = self._file()
        return [file.parent if self.url.scheme == "embedded" else file]

    def process_ids(self) -> list[int]:
        """None: it runs in Dyno's own process."""
        return []

    def _file(self, workload: str = "") -> Path:
        return locate(self.url, self._out, workload)

    def _left(self, session: SqliteConnection) -> None:
        with self._lock:
            self._sessions.discard(session)


def _occupied(paths: Sequence[Path]) -> int:
    return occupied(paths) + spilled()


def _files(place: Path) -> list[Path]:
    """The database files of a place, with their logs."""
    found = sorted(place.glob("*.sqlite")) if place.is_dir() else [place]
    return [file for each in found for file in siblings(each)]


def _is_open(file: Path) -> bool:
    """Whether this process has the file open."""
    whole = file.resolve()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if link.readlink() == whole:
                return True
    return False

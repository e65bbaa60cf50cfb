"""MariaDB or MySQL as a target: a private MariaDB, or a server at a URL."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace as changed
from pathlib import Path
from typing import Any, ClassVar, cast

from dyno.bundle.model import TargetFacts
from dyno.contracts.advice import Catalog
from dyno.contracts.flash import Move, Wanted
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import Job, Maintenance
from dyno.contracts.plans import QueryPlan
from dyno.contracts.target import Connection, Limits, TargetUrl, Texts
from dyno.contracts.whereabouts import Told
from dyno.servers.here import Here
from dyno.targets import mark
from dyno.targets.dialect import translate
from dyno.targets.insert import insert_values
from dyno.targets.mysql import (
    backup,
    catalog,
    ddl,
    facts,
    flash,
    inside,
    isolation,
    journal,
    plans,
    procedures,
    provision,
    removal,
    rights,
    volumes,
    whereabouts,
)
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.connection import MysqlConnection, literal
from dyno.targets.mysql.index import open_indexer
from dyno.targets.mysql.inside.inspector import MysqlInspector
from dyno.targets.mysql.inside.statements import OBSERVER
from dyno.targets.mysql.maintenance import QuickTableCheck, Rebuild, TableCheck
from dyno.targets.mysql.meter import MysqlMeter, uncounted
from dyno.targets.mysql.server import USER, Server
from dyno.targets.mysql.settings import LOCK_WAIT_S
from dyno.targets.mysql.sliding import MysqlWindow
from dyno.targets.mysql.space import Files, Sizes, size_of
from dyno.targets.mysql.stored_columns import MysqlColumns
from dyno.targets.mysql.tuned import Tuning
from dyno.targets.observers import Observers
from dyno.targets.server import InSession, ServerTarget
from dyno.targets.sessionprobe import SessionProbe
from dyno.workspace import places
from dyno.workspace.footprint import Meter

_NO_TLS = "loader and driver support TLS over TCP only; omit unix_socket or ssl from the URL"
_NO_COPY = (
    "its CREATE DATABASE makes an empty folder, and InnoDB preallocates files with fallocate, "
    "which writes nothing: there is no rate to measure"
)
_NO_VACUUM = "InnoDB purges old rows in the background; OPTIMIZE TABLE is what reindex does"

_LOGGED = (
    "SHOW GLOBAL STATUS WHERE variable_name IN ('Innodb_lsn_current', 'Innodb_os_log_written')"
)

_IN_SESSION = InSession(
    loaded=provision.loaded,
    mark=ddl.set_mark,
    marked=removal.marked,
    remove=removal.remove,
    require_rights=rights.require,
    journal=journal.read,
    start_journal=journal.start,
    stages=provision.stages,
    indexer=open_indexer,
    program=procedures.ensure,
    isolation=isolation.isolation,
)


class MysqlTarget(ServerTarget[MysqlConnection, str, Server]):
    """Implements the protocol. A workload's tables are in the database ``dyno_<workload>``."""

    name = "mysql"
    TEXTS: ClassVar = Texts(escaped="'")
    LACKS_MAINTENANCE: ClassVar = {"vacuum": _NO_VACUUM, "create-database": _NO_COPY}

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        super().__init__(url, out, limits, Server, Tuning, _IN_SESSION)
        private = self._server is not None
        self._address = Address("localhost", 0, USER) if private else Address.parse(url)
        # Its sessions and running threads show the probes too, so one works at a time.
        self._observers: Observers[MysqlConnection] = Observers(1, uncounted)
        if self._address.tls is not None and self._address.unix_socket:
            self.capabilities = changed(self.capabilities, oltp=_NO_TLS, load=_NO_TLS)

    @property
    def _called(self) -> str:
        return self._address.server

    def _reach(self, server: Server) -> None:
        self._address = changed(self._address, unix_socket=str(server.socket))

    def _facts(self, session: MysqlConnection) -> TargetFacts:
        return facts.read(session, self.url, self._address)

    def _whereabouts(self, session: MysqlConnection) -> Here:
        return whereabouts.find(session, self._address)

    def _told(self, session: MysqlConnection) -> Told:
        return whereabouts.told(session, self._address)

    def connect(self, workload: str = "") -> MysqlConnection:
        """Opens a session in which unqualified table names mean those of ``workload``."""
        return self._open(mark.schema_of(workload) if workload else "")

    def observer(self) -> MysqlConnection:
        """Opens a session whose statements a log shows as Dyno's own."""
        return self._open(begins=OBSERVER)

    def _open(self, database: str = "", begins: str = "") -> MysqlConnection:
        return MysqlConnection.open(
            self._address, self.exit_reason, database, self._tuning.sessions, begins
        )

    def before_start(self, layout: Layout) -> None:
        """Records the locations of the private server's log and temporary files."""
        if self._server is not None:
            self._server.log_volume, self._server.temp_volume = layout.log, layout.temp

    def deviations(self, layout: Layout) -> list[str]:
        """Log or temporary files that a later load of another workload has moved."""
        found: list[str] = []
        log, temp = volumes.log_volume(self._home), volumes.temp_volume(self._home)
        if layout.log is not None and log != layout.log:
            found.append(f"The log is no longer on {layout.log}, but in {log or self._home}.")
        if layout.temp is not None and temp != layout.temp:
            found.append(f"Temporary files are no longer on {layout.temp}.")
        return found

    def _create(
        self, session: MysqlConnection, workload: str, layout: Layout | None, *, replace: bool
    ) -> None:
        home = None if self._server is None else self._server.own
        provision.create_tables(session, self._called, workload, layout, home, replace=replace)

    def _files(self, session: MysqlConnection | None = None) -> Files | None:  # noqa: ARG002
        if self._server is None or self._server.pid is None:
            return None
        temporary = Path(self._server.settings["tmpdir"])
        folders = volumes.data_folders(self._home)
        return Files(self._server.data, folders, temporary, self._server.pid)

    def _size(self, session: MysqlConnection) -> int | None:
        return size_of(session, mark.schema_of(""))

    def data_bytes(self, workload: str) -> int | None:
        """Bytes of the workload's tables with their indexes; None without the right PROCESS."""
        with closing(self.connect()) as session:
            return size_of(session, mark.schema_of(workload))

    def logged_bytes(self) -> int | None:
        """Bytes of InnoDB's redo log: the log sequence number, or the bytes written to its file."""
        with closing(self.connect()) as session:
            found = {str(name).lower(): int(value) for name, value in session.execute(_LOGGED).rows}
        return found.get("innodb_lsn_current", found.get("innodb_os_log_written"))

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:  # noqa: ARG002
        """Adds generated rows by INSERT."""
        return insert_values(connection, rows, literal)

    def _step_log(
        self,
        session: MysqlConnection,
        workload: str,
        layout: Layout | None,  # noqa: ARG002
        meter: Meter,
    ) -> Sizes:
        own = self._server.own if self._server is not None else None
        owner = own.identity.owner if own is not None else (0, 0)
        return Sizes(meter, mark.schema_of(workload), self._files(session), owner)

    def wire(self, workload: str = "") -> dict[str, Any]:
        """Connection parameters for the Rust driver, with the workload's database."""
        database = mark.schema_of(workload) if workload else self._address.database
        found = {**self._address.wire(), "database": database}
        found["lock_wait_s"] = LOCK_WAIT_S
        if self._tuning.sessions:
            found["settings"] = {name: int(text) for name, text in self._tuning.sessions.items()}
        return found

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """The neutral statement in the MySQL dialect."""
        return translate(neutral, "mysql")

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """A check of every table, a rebuild of all of them, or a dump."""
        if (reason := self.LACKS_MAINTENANCE.get(name)) is not None:
            return reason
        if name == "sliding-window":
            return MysqlWindow(self.connect, workload)
        session = self.connect()
        if name == "backup":
            return backup.take(session, self._address, self._out, workload)
        if name == "integrity-check":
            return TableCheck(session, workload)
        if name == "quick-check":
            return QuickTableCheck(session, workload)
        files = self._files()
        return Rebuild(session, workload, None if files is None else files.total)

    def meter(self, connection: Connection) -> MysqlMeter:
        """A meter of bytes read, bytes spilled and memory, from the server's counters."""
        return MysqlMeter(cast("MysqlConnection", connection), self._observers)

    def probes(self) -> list[SessionProbe[MysqlConnection]]:
        """The probes of ``inside``; each has its own session."""
        private = self._server is not None
        return self._observers.probes(self.observer, inside.probes(self.name, private=private))

    def inspector(self) -> MysqlInspector:
        """Statements and tables between two points in time."""
        return MysqlInspector(self.observer, private=self._server is not None)

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query."""
        return plans.explain(cast("MysqlConnection", connection), sql, analyse=analyse)

    def move(self, wanted: Wanted) -> Move:
        """How a part of a server at a URL gets onto flash, or back."""
        with closing(self.connect()) as session:
            return flash.planned(session, self._address, wanted)

    def catalog(self) -> Catalog:
        """What advice needs (see :mod:`dyno.contracts.advice`)."""
        with closing(self.observer()) as session:
            return catalog.read(session, private=self._server is not None)

    def column_reader(self) -> MysqlColumns:
        """Its columns (see :mod:`dyno.contracts.stored_columns`)."""
        return MysqlColumns(self.connect())

    def data_paths(self) -> list[Path]:
        """The server's data folder, if it is on this machine, and its folders on volumes."""
        if self._server is not None:
            return [self._server.data, *places.own(self._home)]
        return super().data_paths()

    def _stored(self, server: Server) -> dict[str, list[Path]]:
        """Data, log and temporary files."""
        log = volumes.log_volume(self._home)
        return {
            "data": [server.data, *volumes.data_folders(self._home)],
            "log": [server.data if log is None else Path(log)],
            "temp": [Path(server.settings["tmpdir"])],
        }

"""MariaDB or MySQL as a target: a private MariaDB of Dyno's own, or a server at a URL."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace as changed
from pathlib import Path
from typing import Any, ClassVar, cast

from dyno.bundle.model import Applied, Role, TargetFacts
from dyno.config.settings import Setting
from dyno.contracts import databases, schema
from dyno.contracts.cold import Emptied
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
    Unfinished,
)
from dyno.errors import DynoError, UsageError
from dyno.host.pagecache import empty, files_under
from dyno.servers.here import ELSEWHERE
from dyno.targets import mark
from dyno.targets.dialect import translate
from dyno.targets.insert import insert_values
from dyno.targets.journal import TABLE
from dyno.targets.mysql import (
    backup,
    ddl,
    facts,
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
from dyno.targets.mysql.index import Indexer
from dyno.targets.mysql.maintenance import Rebuild, TableCheck
from dyno.targets.mysql.meter import MysqlMeter
from dyno.targets.mysql.server import USER, Server
from dyno.targets.mysql.settings import LOCK_WAIT_S
from dyno.targets.mysql.space import Files, StepLog, size_of
from dyno.targets.mysql.tuned import Tuning
from dyno.workspace import places
from dyno.workspace.footprint import Meter, Probe

_NO_TLS = "loader and driver speak TLS over TCP only; leave unix_socket or ssl out of the URL"
_NO_VACUUM = "InnoDB clears away old rows by itself; what OPTIMIZE TABLE does is its reindex"
_NO_COLD = (
    "a server that is not Dyno's own is not restarted, and the caches of its machine are beyond "
    "reach; only embedded:mysql starts cold"
)
_SERVER_GONE = {"connection_lost", "unreachable"}


class MysqlTarget:
    """See the protocol. Tables of a workload lie in the database ``dyno_<workload>``."""

    name = "mysql"
    SEVERAL_DATABASES: ClassVar = True
    LACKS_MAINTENANCE: ClassVar = {"vacuum": _NO_VACUUM}

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        self.url = url
        self._limits = limits
        self._out = out
        self._server: Server | None = None
        self._here = ELSEWHERE
        self._tuning = Tuning()
        self._home = (out / "engines" / self.name).resolve()
        embedded = url.scheme == "embedded"
        if embedded:
            self._server = Server(self._home, limits)
            self._address = Address("localhost", 0, USER)
        else:
            self._address = Address.parse(url)
        tls_on_socket = self._address.tls is not None and bool(self._address.unix_socket)
        self.capabilities = Capabilities(
            oltp=_NO_TLS if tls_on_socket else True,
            load=_NO_TLS if tls_on_socket else True,
            cold=True if embedded else _NO_COLD,
            resume=True,
            procedure=True,
        )

    def __enter__(self) -> MysqlTarget:
        """Starts the private server, or checks that the one at the URL can be used.

        Raises:
            TargetError: If it cannot.
        """
        if self._server is not None:
            self._start(self._server)
            return self
        with closing(self.connect()) as session:
            self._here = whereabouts.find(session, self._address)
            self._tuning.plan_sessions(session, self._address.server)
        with closing(self.connect()) as session:
            self._tuning.verify_sessions(session)
        return self

    def __exit__(self, *exc: object) -> None:
        """Stops the private server; its settings end with it."""
        if self._server is not None:
            self._server.stop()
        self._tuning.left()

    def tune(self, asked: Sequence[Setting]) -> None:
        """Takes settings, before it is entered (see :class:`dyno.contracts.tuning.Tunable`)."""
        self._tuning = Tuning(asked)
        if self._server is not None:
            self._tuning.give(self._server)

    def tuned(self) -> tuple[Applied, ...]:
        """What was applied, as read back."""
        return self._tuning.applied

    def cool(self) -> Emptied:
        """Restarts the private server with none of its data cached.

        Raises:
            UsageError: If the server is not Dyno's own.
            TargetError: If it cannot be proven that nothing is cached.
        """
        if self._server is None:
            raise UsageError(f"{_NO_COLD}.")
        self._server.pause()
        emptied = empty(files_under(self.data_paths()))
        self._start(self._server)
        return emptied

    def _start(self, server: Server) -> None:
        server.start()
        self._address = changed(self._address, unix_socket=str(server.socket))
        try:
            with closing(self.connect()) as session:
                self._tuning.verify_server(session, server)
        except BaseException:
            server.stop()
            raise

    def facts(self) -> TargetFacts:
        """Version and settings, read back from the live system."""
        with closing(self.connect()) as session:
            return facts.read(session, self.url, self._address)

    def connect(self, workload: str = "") -> MysqlConnection:
        """A new session; plain table names in it mean those of ``workload``."""
        database = mark.schema_of(workload) if workload else ""
        return MysqlConnection.open(
            self._address, self.exit_reason, database, self._tuning.sessions
        )

    def before_start(self, layout: Layout) -> None:
        """Notes where the private server's log and temporary files belong."""
        if self._server is not None:
            self._server.log_volume, self._server.temp_volume = layout.log, layout.temp

    def deviations(self, layout: Layout) -> list[str]:
        """Log or temporary files that a later load of another workload has moved."""
        found: list[str] = []
        log, temp = volumes.log_volume(self._home), volumes.temp_volume(self._home)
        if layout.log is not None and log != layout.log:
            found.append(f"The log no longer lies on {layout.log}, but in {log or self._home}.")
        if layout.temp is not None and temp != layout.temp:
            found.append(f"Temporary files no longer go to {layout.temp}.")
        return found

    def require_rights(self, workload: str) -> None:
        """Refuses an account that may not create the workload's tables (``targets.rights``)."""
        with closing(self.connect()) as session:
            rights.require(session, self._address.server, workload)

    def create_tables(self, workload: str, *, replace: bool, layout: Layout | None = None) -> None:
        """Creates the workload's tables with their primary keys, without other indexes."""
        self.require_rights(workload)
        home = self._server.own if self._server is not None else None
        with closing(self.connect()) as session:
            provision.create_tables(
                session, self._address.server, workload, layout, home, replace=replace
            )

    def space_probe(self) -> tuple[Probe, bool] | None:
        """The private server's files; of another server what it says, asked at rest only."""
        files = self._files()
        if files is not None:
            return files.total, True
        with closing(self.connect()) as session:
            if size_of(session, mark.schema_of("")) is None:
                return None
        return self._size, False

    def _size(self) -> int:
        """Bytes of all that Dyno has on another server."""
        with closing(self.connect()) as session:
            return size_of(session, mark.schema_of("")) or 0

    def _files(self) -> Files | None:
        if self._server is None or self._server.pid is None:
            return None
        temporary = Path(self._server.settings["tmpdir"])
        folders = volumes.data_folders(self._home)
        return Files(self._server.data, folders, temporary, self._server.pid)

    def loaded(self, workload: str) -> Loaded | None:
        """What is loaded, by Dyno's mark."""
        with closing(self.connect()) as session:
            return ddl.loaded(session, workload)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect()) as session:
            ddl.set_mark(session, workload, loaded)

    def marked(self) -> list[str]:
        """What bears Dyno's mark on this server (see :class:`~dyno.contracts.target.Removable`)."""
        with closing(self.connect()) as session:
            return removal.marked(session)

    def remove(self) -> list[str]:
        """Removes it and nothing else."""
        with closing(self.connect()) as session:
            return removal.remove(session)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates the rows and streams them in, by the compiled loader."""
        from dyno import _core

        request = {
            "wire": self.wire(plan.workload),
            "workload": databases.workload_of(plan.workload),
            "scale": plan.scale,
            "seed": plan.seed,
            "streams": plan.streams,
            "tables": schema.table_names(plan.workload),
            "journal": {"table": TABLE, "done": self._done(plan)},
        }
        try:
            outcome = json.loads(_core.load(json.dumps(request), control))
        except _core.EngineError as error:
            reason = self.exit_reason() if error.args[0] in _SERVER_GONE else None
            if reason is None:
                raise
            raise reason from error
        return LoadOutcome(
            tuple(outcome["tables"]), outcome["seconds"], outcome["rows"], outcome["bytes"]
        )

    def unfinished(self, workload: str) -> Unfinished | None:
        """What the journal of a load that did not end tells."""
        with closing(self.connect()) as session:
            found = journal.read(session, workload)
        return None if found is None else found[0]

    def _done(self, plan: LoadPlan) -> list[dict[str, Any]]:
        """Parts that are in already, as the loader takes them."""
        with closing(self.connect()) as session:
            return [vars(done) for done in journal.ready(session, plan)]

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:  # noqa: ARG002
        """Adds generated rows by INSERT."""
        return insert_values(connection, rows, literal)

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,
    ) -> dict[str, Any]:
        """Sorts rows anew, adds indexes and foreign keys, gathers statistics.

        The primary keys came with the tables.

        Returns:
            Seconds a step, and ``total``; ``space`` and ``notes`` as the protocol says.
        """
        start = time.monotonic()
        with closing(self.connect()) as session, Meter() as meter:
            stages, notes = provision.stages(session, workload, layout)
            own = self._server.own if self._server is not None else None
            owner = own.identity.owner if own is not None else (0, 0)
            log = StepLog(mark.schema_of(workload), self._files(), meter, owner)
            indexer = Indexer(self.connect, self._limits.threads, control, progress, log.around)
            indexer.expect(sum(len(stage.steps) for stage in stages))
            for stage in stages:
                (indexer.run_alone if stage.alone else indexer.run)(stage.steps)
            return {
                **indexer.seconds,
                "total": time.monotonic() - start,
                "space": log.records(indexer.seconds),
                "notes": notes,
            }

    def isolation(self) -> Isolation:
        """Levels of transactions (see :mod:`dyno.contracts.isolation`)."""
        with closing(self.connect()) as session:
            return isolation.isolation(session)

    def program(self, workload: str) -> dict[str, Any]:
        """Puts the workload's procedures beside its tables (see the protocol)."""
        with closing(self.connect()) as session:
            return procedures.ensure(session, self._address.server, workload)

    def wire(self, workload: str = "") -> dict[str, Any]:
        """How the compiled half reaches it; plain table names there mean those of ``workload``."""
        database = mark.schema_of(workload) if workload else self._address.database
        found = {**self._address.wire(), "database": database}
        found["lock_wait_s"] = LOCK_WAIT_S
        if self._tuning.sessions:
            found["settings"] = {name: int(text) for name, text in self._tuning.sessions.items()}
        return found

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """The neutral statement in MySQL's words."""
        return translate(neutral, "mysql")

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """A check of every table, all of them written anew, or a dump."""
        if (reason := self.LACKS_MAINTENANCE.get(name)) is not None:
            return reason
        session = self.connect()
        if name == "backup":
            return backup.take(session, self._address, self._out, workload)
        if name == "integrity-check":
            return TableCheck(session, workload)
        files = self._files()
        return Rebuild(session, workload, None if files is None else files.total)

    def meter(self, connection: Connection) -> MysqlMeter:
        """What the queries of a session read, spill and hold, by the server's counters."""
        return MysqlMeter(cast("MysqlConnection", connection))

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query."""
        return plans.explain(cast("MysqlConnection", connection), sql, analyse=analyse)

    def data_paths(self) -> list[Path]:
        """The server's data folder, if it lies on this machine, and its places on volumes."""
        if self._server is not None:
            return [self._server.data, *places.own(self._home)]
        return self._here.storage.get("data", [])[:1]

    def storage(self) -> dict[Role, list[Path]]:
        """Data, log and temporary files of a server on this machine."""
        if self._server is None:
            return self._here.storage
        log = volumes.log_volume(self._home)
        data = [self._server.data, *volumes.data_folders(self._home)]
        return {
            "data": data,
            "log": [self._server.data if log is None else Path(log)],
            "temp": [Path(self._server.settings["tmpdir"])],
        }

    def unplaced(self) -> list[str]:
        """Why some of a server's files were not found."""
        return list(self._here.notes)

    def process_ids(self) -> list[int]:
        """The server's process, if it is one of this machine."""
        pid = self._here.pid if self._server is None else self._server.pid
        return [] if pid is None else [pid]

    def exit_reason(self) -> DynoError | None:
        """What ended the private server; None if it is well."""
        return None if self._server is None else self._server.exit_reason()

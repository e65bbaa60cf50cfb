"""PostgreSQL as a target: a private server of Dyno's own, or one at a URL."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

from psycopg import sql

from dyno.bundle.model import Applied, Role, TargetFacts
from dyno.config.settings import Setting
from dyno.contracts import databases, schema
from dyno.contracts.checkpoints import Checkpoints
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
from dyno.errors import DynoError, TargetError, UsageError
from dyno.host.pagecache import empty, files_under
from dyno.servers.here import ELSEWHERE
from dyno.targets import mark
from dyno.targets.journal import TABLE
from dyno.targets.postgresql import (
    address,
    backup,
    checkpoints,
    ddl,
    facts,
    isolation,
    journal,
    plans,
    privilege,
    procedures,
    provision,
    removal,
    tablespaces,
    tls,
    whereabouts,
)
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.copy import copy_rows
from dyno.targets.postgresql.index import Indexer
from dyno.targets.postgresql.integrity import integrity_check
from dyno.targets.postgresql.maintenance import Reindex
from dyno.targets.postgresql.meter import PostgresMeter
from dyno.targets.postgresql.server import Server
from dyno.targets.postgresql.sessions import Room
from dyno.targets.postgresql.space import Files, StepLog
from dyno.targets.postgresql.tuned import Tuning
from dyno.targets.postgresql.vacuum import Vacuum
from dyno.workspace.footprint import Meter, Probe

_SERVER_GONE = {"connection_lost", "unreachable"}
_NO_COLD = (
    "a server that is not Dyno's own is not restarted, and the caches of its machine are beyond "
    "reach; only embedded:postgresql starts cold"
)


class PostgresTarget:
    """See the protocol. Tables of a workload lie in the schema ``dyno_<workload>``."""

    name = "postgresql"
    SEVERAL_DATABASES: ClassVar = True
    WHOLE_MAINTENANCE: ClassVar = ("backup",)

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        self.url = url
        embedded = url.scheme == "embedded"
        self.capabilities = Capabilities(
            cold=True if embedded else _NO_COLD, resume=True, procedure=True
        )
        self._limits = limits
        self._out = out
        self._server: Server | None = None
        self._tuning = Tuning()
        self._temp: dict[str, dict[str, str]] = {}
        self._room: Room | None = None
        self._here = ELSEWHERE
        if embedded:
            home = (out / "engines" / self.name).resolve()
            self._server = Server(home, limits)
        else:
            self._address = address.Address.parse(url)

    def __enter__(self) -> PostgresTarget:
        """Starts the private server, or checks that the one at the URL can be used.

        Raises:
            TargetError: If it cannot.
        """
        if self._server is not None:
            self._start(self._server)
            return self
        with closing(self.connect()) as session:
            address.require_version(session, self._address.server)
            obstacle = tls.obstacle(session)
            if obstacle is not None:
                self.capabilities = replace(self.capabilities, oltp=obstacle, load=obstacle)
            self._tuning.plan_sessions(session, self._address.server)
            self._here = whereabouts.find(session)
        with closing(self.connect()) as session:
            self._tuning.verify_sessions(session)
        return self

    def __exit__(self, *exc: object) -> None:
        """Stops the private server; what was changed for the run is as before.

        Raises:
            TargetError: If something could not be restored.
        """
        if self._server is not None:
            self._server.stop()
        self._tuning.left(restored=self._server is None or self._server.restored)

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
        try:
            server.start()
        except TargetError as error:
            raise self._tuning.advised(error, server) from error
        self._address = address.Address(server.conninfo(), "The embedded PostgreSQL")
        with closing(self.connect()) as session:
            self._tuning.verify_server(session, server)

    def facts(self) -> TargetFacts:
        """Version and settings, read back from the live system."""
        with closing(self.connect()) as session:
            return facts.read(session, self.url)

    def connect(self, workload: str = "") -> PostgresConnection:
        """A new session; plain table names in it mean those of ``workload``.

        Its temporary files go where the workload's layout says, this session's only.
        """
        session = PostgresConnection.open(
            self._address.conninfo,
            self._address.server,
            self.exit_reason,
            mark.schema_of(workload) if workload else "",
            self._tuning.sessions,
        )
        try:
            for name, value in self._temp_of(session, workload).items():
                query = sql.SQL("SELECT set_config({}, {}, false)")
                ddl.run(session, [query.format(sql.Literal(name), sql.Literal(value))])
        except BaseException:
            session.close()
            raise
        return session

    def _temp_of(self, session: PostgresConnection, workload: str) -> dict[str, str]:
        """Where sessions of a workload put temporary files; ``""`` is for those that build it."""
        if workload not in self._temp:
            found = ddl.loaded(session, workload) if workload else None
            layout = Layout.model_validate_json(found.layout) if found and found.layout else None
            self._temp[workload] = tablespaces.temp_setting(session, layout)
        return self._temp[workload]

    def before_start(self, layout: Layout) -> None:
        """Notes where the private server's log belongs."""
        if self._server is not None:
            self._server.log_volume = layout.log

    def deviations(self, layout: Layout) -> list[str]:
        """Log or temporary files that a later load of another workload has moved."""
        log = None if self._server is None else (self._server.data / "pg_wal").resolve()
        with closing(self.connect()) as session:
            return tablespaces.deviations(session, layout, log)

    def require_rights(self, workload: str) -> None:
        """Refuses a role that may not create the workload's tables (see ``targets.rights``)."""
        with closing(self.connect()) as session:
            privilege.require(session, self._address.server, workload)

    def create_tables(self, workload: str, *, replace: bool, layout: Layout | None = None) -> None:
        """Creates the workload's tables, without keys or indexes (see the protocol)."""
        self.require_rights(workload)
        with closing(self.connect()) as session:
            provision.create_tables(
                session,
                self._address.server,
                workload,
                layout,
                self._server.own if self._server else None,
                replace=replace,
            )
            temp = tablespaces.temp_setting(session, layout)
            self._temp = {"": temp, workload: temp}

    def space_probe(self) -> tuple[Probe, bool] | None:
        """The private server's files; of another server what it says, asked at rest only."""
        with closing(self.connect()) as session:
            if self._server is not None:
                return Files(session, self._server.data).total, True
        return self._database_size, False

    def _database_size(self) -> int:
        with closing(self.connect()) as session:
            return int(session.execute("SELECT pg_database_size(current_database())").rows[0][0])

    def loaded(self, workload: str) -> Loaded | None:
        """What is loaded, by Dyno's mark.

        Raises:
            TargetError: If another role loaded it, and this one may not use it.
        """
        with closing(self.connect()) as session:
            found = ddl.loaded(session, workload)
            if found is not None:
                privilege.require_use(session, self._address.server, workload)
            return found

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect()) as session:
            ddl.set_mark(session, workload, loaded)

    def marked(self) -> list[str]:
        """What Dyno has made here."""
        with closing(self.connect()) as session:
            return removal.marked(session)

    def remove(self) -> list[str]:
        """Removes it (see :class:`dyno.contracts.target.Removable`)."""
        with closing(self.connect()) as session:
            return removal.remove(session)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates the rows and copies them in, by the compiled loader."""
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

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:
        """Adds generated rows by COPY."""
        session = cast("PostgresConnection", connection)
        place = mark.schema_of(workload)
        return sum(copy_rows(session, place, table, rows[table]) for table in rows)

    def unfinished(self, workload: str) -> Unfinished | None:
        """What the journal of a load that did not end tells."""
        with closing(self.connect()) as session:
            found = journal.read(session, workload)
        return None if found is None else found[0]

    def _done(self, plan: LoadPlan) -> list[dict[str, Any]]:
        """Parts that are in already, as the loader takes them."""
        with closing(self.connect()) as session:
            return [vars(done) for done in journal.ready(session, plan)]

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,
    ) -> dict[str, Any]:
        """Adds keys and indexes, vacuums and analyses, and writes a checkpoint.

        The checkpoint keeps what follows from paying for the load.

        Returns:
            Seconds a step, and ``total``; ``space`` and ``notes`` as the protocol says. A
            checkpoint that the user may not ask for is a reason.
        """
        start = time.monotonic()
        with closing(self.connect()) as session, Meter() as meter:
            files = None if self._server is None else Files(session, self._server.data)
            self._temp[""] = tablespaces.temp_setting(session, layout)
            log = StepLog(mark.schema_of(workload), files, meter)
            stages, notes = provision.stages(session, workload, layout)
            indexer = Indexer(self.connect, self._limits.threads, control, progress, log.around)
            indexer.expect([stage.steps for stage in stages])
            for stage in stages:
                (indexer.run_alone if stage.alone else indexer.run)(stage.steps)
            return {
                **indexer.seconds,
                "checkpoint": _checkpoint(session),
                "total": time.monotonic() - start,
                "space": log.records(indexer.seconds),
                "notes": notes,
            }

    def room(self) -> str:
        """How many users there was room for (see :class:`dyno.contracts.target.Limited`)."""
        return "" if self._room is None else self._room.text()

    def program(self, workload: str) -> dict[str, Any]:
        """Puts the workload's procedures beside its tables (see the protocol)."""
        with closing(self.connect()) as session:
            return procedures.ensure(session, self._address.server, workload)

    def isolation(self) -> Isolation:
        """Levels of transactions (see :mod:`dyno.contracts.isolation`)."""
        with closing(self.connect()) as session:
            return isolation.isolation(session)

    def wire(self, workload: str = "") -> dict[str, Any]:
        """How the Rust driver reaches it; plain table names there mean those of ``workload``."""
        with closing(self.connect()) as session:
            self._room = Room.of(session)
            found = address.wire(session, self._address)
            settings = {**self._tuning.sessions, **self._temp_of(session, workload)}
        if settings:
            found["settings"] = settings
        return {**found, "schema": mark.schema_of(workload)} if workload else found

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """PostgreSQL takes the neutral statements as they are."""
        return neutral

    def before_maintenance(self, name: Maintenance) -> None:
        """Has the private server write a log that a backup can be taken with."""
        if self._server is not None and name == "backup":
            self._server.extra = dict(backup.SETTINGS)

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """``REINDEX CONCURRENTLY``, a check of tables and indexes, a backup, or a vacuum."""
        if name == "reindex":
            return Reindex(self.connect, workload)
        if name == "vacuum":
            return Vacuum(self.connect, workload)
        if name == "backup":
            return backup.take(self.connect(), self._out)
        return integrity_check(self.connect, workload)

    def meter(self, connection: Connection) -> PostgresMeter:
        """What the queries of a session read and spill, by the server's counters."""
        return PostgresMeter(cast("PostgresConnection", connection))

    def checkpoints(self) -> Checkpoints:
        """How many it has begun."""
        with closing(self.connect()) as session:
            return checkpoints.read(session)

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query."""
        assert isinstance(connection, PostgresConnection)  # noqa: S101  (one of its own)
        return plans.explain(connection, sql, analyse=analyse)

    def data_paths(self) -> list[Path]:
        """The server's data folder, if it is known to lie on this machine."""
        return self.storage().get("data", [])[:1]

    def storage(self) -> dict[Role, list[Path]]:
        """Data with its tablespaces, write-ahead log and temporary files of a server here."""
        if self._server is None:
            return self._here.storage
        data = self._server.data
        spaces = [link.resolve() for link in sorted((data / "pg_tblspc").glob("*"))]
        found: dict[Role, list[Path]] = {"data": [data, *spaces]}
        found["log"] = [(data / "pg_wal").resolve()]
        # Where a layout's tablespaces are, temporary files go by the workload.
        return found if spaces else {**found, "temp": [data]}

    def unplaced(self) -> list[str]:
        """Why some of a server's files were not found."""
        return list(self._here.notes)

    def process_ids(self) -> list[int]:
        """The postmaster of a server on this machine; the other processes are its children."""
        pid = self._here.pid if self._server is None else self._server.pid
        return [] if pid is None else [pid]

    def exit_reason(self) -> DynoError | None:
        """What ended the private server; None if it is well."""
        return None if self._server is None else self._server.exit_reason()


def _checkpoint(session: PostgresConnection) -> float | str:
    start = time.monotonic()
    try:
        session.execute("CHECKPOINT")
    except TargetError as error:
        if error.kind != "denied":
            raise
        return "skipped: this user may not ask for one (role pg_checkpoint)"
    return time.monotonic() - start

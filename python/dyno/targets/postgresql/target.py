"""PostgreSQL as a target: a private server, or one at a URL."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from psycopg import sql

from dyno.bundle.model import TargetFacts
from dyno.contracts.advice import Catalog, TableFacts
from dyno.contracts.checkpoints import SOURCE as CHECKPOINTS
from dyno.contracts.flash import Move, Wanted
from dyno.contracts.hypothetical import Planner
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import Job, Maintenance
from dyno.contracts.plans import QueryPlan
from dyno.contracts.relations import Relations
from dyno.contracts.target import Connection, Limits, TargetUrl, Texts
from dyno.contracts.whereabouts import Told
from dyno.errors import TargetError
from dyno.servers.here import Here
from dyno.targets import mark
from dyno.targets.postgresql import (
    address,
    backup,
    catalog,
    checkpoints,
    ddl,
    facts,
    filenodes,
    flash,
    hypothetical,
    inside,
    isolation,
    journal,
    named,
    newdatabase,
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
from dyno.targets.postgresql.index import open_indexer
from dyno.targets.postgresql.inside.observer import NAME as OBSERVER
from dyno.targets.postgresql.inside.observer import prepared
from dyno.targets.postgresql.integrity import integrity_check
from dyno.targets.postgresql.maintenance import Reindex
from dyno.targets.postgresql.meter import PostgresMeter
from dyno.targets.postgresql.server import Server
from dyno.targets.postgresql.sessions import SessionLimits
from dyno.targets.postgresql.sliding import sliding_window
from dyno.targets.postgresql.space import Files, Sizes
from dyno.targets.postgresql.stored_columns import PostgresColumns
from dyno.targets.postgresql.tuned import Tuning
from dyno.targets.postgresql.vacuum import Vacuum
from dyno.targets.server import InSession, ServerTarget
from dyno.targets.sessionprobe import Asked
from dyno.targets.space import require_space
from dyno.workspace.footprint import Meter

_IN_SESSION = InSession(
    loaded=provision.loaded,
    mark=ddl.set_mark,
    marked=removal.marked,
    remove=removal.remove,
    require_rights=privilege.require,
    journal=journal.read,
    start_journal=journal.start,
    stages=provision.stages,
    indexer=open_indexer,
    program=procedures.ensure,
    isolation=isolation.isolation,
    probes={CHECKPOINTS: Asked(prepared(lambda: checkpoints.read, 5.0)), **inside.PROBES},
    inspector=inside.INSPECTOR,
)

_LOGGED = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"

_DATA_BYTES = sql.SQL(
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = {} AND c.relkind IN ('r', 'm')"
)


class PostgresTarget(ServerTarget[PostgresConnection, sql.Composed, Server]):
    """Implements the protocol. A workload's tables are in the schema ``dyno_<workload>``."""

    name = "postgresql"
    TEXTS: ClassVar = Texts(escaped="E'")
    WHOLE_MAINTENANCE: ClassVar = ("backup", "create-database")

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        super().__init__(url, out, limits, Server, Tuning, _IN_SESSION)
        self._temp: dict[str, dict[str, str]] = {}
        self._session_limits: SessionLimits | None = None
        if self._server is None:
            self._address = address.Address.parse(url)

    @property
    def _called(self) -> str:
        return self._address.server

    def _admit(self, session: PostgresConnection) -> None:
        address.require_version(session, self._address.server)
        obstacle = tls.obstacle(session)
        if obstacle is not None:
            self.capabilities = replace(self.capabilities, oltp=obstacle, load=obstacle)

    def _reach(self, server: Server) -> None:
        self._address = address.Address(server.conninfo(), "The private PostgreSQL")

    def _facts(self, session: PostgresConnection) -> TargetFacts:
        return facts.read(session, self.url)

    def _whereabouts(self, session: PostgresConnection) -> Here:
        return whereabouts.find(session)

    def _told(self, session: PostgresConnection) -> Told:
        return whereabouts.told(session)

    def connect(self, workload: str = "") -> PostgresConnection:
        """Opens a session in which unqualified table names mean those of ``workload``.

        Its temporary files are on the volume of the workload's layout.
        """
        session = self._open(mark.schema_of(workload) if workload else "")
        try:
            for name, value in self._temp_of(session, workload).items():
                query = sql.SQL("SELECT set_config({}, {}, false)")
                ddl.run(session, [query.format(sql.Literal(name), sql.Literal(value))])
        except BaseException:
            session.close()
            raise
        return session

    def observer(self) -> PostgresConnection:
        """Opens a session that the record of active sessions and of each query leaves out."""
        return self._open(application_name=OBSERVER)

    def _open(self, schema: str = "", **parameters: str) -> PostgresConnection:
        return PostgresConnection.open(
            {**self._address.conninfo, **parameters},
            self._address.server,
            self.exit_reason,
            schema,
            self._tuning.sessions,
        )

    def _temp_of(self, session: PostgresConnection, workload: str) -> dict[str, str]:
        """The location of a workload's temporary files; ``""`` is for sessions that build it."""
        if workload not in self._temp:
            found = ddl.loaded(session, workload) if workload else None
            layout = Layout.model_validate_json(found.layout) if found and found.layout else None
            self._temp[workload] = tablespaces.temp_setting(session, layout)
        return self._temp[workload]

    def before_start(self, layout: Layout) -> None:
        """Records the location of the private server's WAL."""
        if self._server is not None:
            self._server.log_volume = layout.log

    def deviations(self, layout: Layout) -> list[str]:
        """WAL or temporary files that a later load of another workload has moved."""
        log = None if self._server is None else (self._server.data / "pg_wal").resolve()
        with closing(self.connect()) as session:
            return tablespaces.deviations(session, layout, log)

    def _create(
        self, session: PostgresConnection, workload: str, layout: Layout | None, *, replace: bool
    ) -> None:
        home = None if self._server is None else self._server.own
        provision.create_tables(session, self._called, workload, layout, home, replace=replace)
        temp = tablespaces.temp_setting(session, layout)
        self._temp = {"": temp, workload: temp}

    def _files(self, session: PostgresConnection) -> Files | None:
        return None if self._server is None else Files(session, self._server.data)

    def _size(self, session: PostgresConnection) -> int | None:
        return int(session.execute("SELECT pg_database_size(current_database())").rows[0][0])

    def data_bytes(self, workload: str) -> int:
        """Bytes of the workload's tables with their indexes."""
        with closing(self.connect()) as session:
            place = sql.Literal(mark.schema_of(workload))
            return int(ddl.run(session, [_DATA_BYTES.format(place)])[0][0])

    def logged_bytes(self) -> int:
        """Bytes of write-ahead log since the cluster was created."""
        with closing(self.connect()) as session:
            return int(session.execute(_LOGGED).rows[0][0])

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:
        """Adds generated rows by COPY."""
        session = cast("PostgresConnection", connection)
        place = mark.schema_of(workload)
        return sum(copy_rows(session, place, table, rows[table]) for table in rows)

    def _step_log(
        self, session: PostgresConnection, workload: str, layout: Layout | None, meter: Meter
    ) -> Sizes:
        self._temp[""] = tablespaces.temp_setting(session, layout)
        return Sizes(meter, mark.schema_of(workload), self._files(session))

    def _finish(self, session: PostgresConnection) -> dict[str, Any]:
        """Writes a checkpoint, so that later phases do not pay for the load.

        If the user lacks the privilege, returns that as a note.
        """
        start = time.monotonic()
        try:
            session.execute("CHECKPOINT")
        except TargetError as error:
            if error.kind != "denied":
                raise
            reason = "skipped: this user has no right to run one (role pg_checkpoint)"
            return {"checkpoint": reason}
        return {"checkpoint": time.monotonic() - start}

    def free_connections(self) -> str:
        """The number of free connections (see :class:`dyno.contracts.target.Limited`)."""
        return "" if self._session_limits is None else self._session_limits.text()

    def wire(self, workload: str = "") -> dict[str, Any]:
        """Connection parameters for the Rust driver, with the workload's schema."""
        with closing(self.connect()) as session:
            self._session_limits = SessionLimits.of(session)
            found = address.wire(session, self._address)
            ours = {"TimeZone": "UTC", **self._tuning.sessions}  # as the times of statements
            found["settings"] = {**ours, **self._temp_of(session, workload)}
        return {**found, "schema": mark.schema_of(workload)} if workload else found

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """PostgreSQL runs the neutral statements unchanged."""
        return neutral

    def before_maintenance(self, name: Maintenance) -> None:  # noqa: ARG002
        """Makes the private server write all of the log that a server with replicas would."""
        if self._server is not None:
            self._server.extra = dict(backup.SETTINGS)

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """``REINDEX CONCURRENTLY``, checks of tables and indexes, a backup, a vacuum …"""
        connect = partial(self.connect, workload)
        if name == "reindex":
            return Reindex(connect, workload)
        if name == "vacuum":
            return Vacuum(connect, workload)
        if name == "sliding-window":
            return sliding_window(connect, workload)
        if name == "create-database":
            if self._server is not None:
                require_space(self._home, newdatabase.NEEDED, "Free space, or use another --out.")
            return newdatabase.new_database(self._open)
        if name == "backup":
            return backup.take(self.connect(), self._out)
        return integrity_check(connect, workload, quick=name == "quick-check")

    def meter(self, connection: Connection) -> PostgresMeter:
        """A meter of bytes read and spilled, from the server's counters."""
        return PostgresMeter(cast("PostgresConnection", connection))

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query."""
        assert isinstance(connection, PostgresConnection)  # noqa: S101  (one of its own)
        return plans.explain(connection, sql, analyse=analyse)

    def relations(self) -> Relations:
        """The relations in the files of its database."""
        with closing(self.connect()) as session:
            return filenodes.relations(session)

    def move(self, wanted: Wanted) -> Move:
        """How a part of a server at a URL gets onto flash, or back."""
        return flash.planned(self._open, self._address, wanted)

    def catalog(self) -> Catalog:
        """What advice needs (see :mod:`dyno.contracts.advice`)."""
        with closing(self.observer()) as session:
            return catalog.read(session)

    def named_tables(self, names: Sequence[str]) -> list[TableFacts]:
        """The tables of these names (see :mod:`dyno.contracts.captured`)."""
        with closing(self.observer()) as session:
            return named.read(session, names)

    def column_reader(self) -> PostgresColumns:
        """Its columns (see :mod:`dyno.contracts.stored_columns`)."""
        return PostgresColumns(self.observer())

    @contextlib.contextmanager
    def planner(self, workload: str) -> Generator[Planner | str]:  # noqa: ARG002  (of all schemas)
        """A planner of hypothetical indexes (see :mod:`dyno.contracts.hypothetical`)."""
        with closing(self.observer()) as session, hypothetical.planner(session) as found:
            yield found

    def _stored(self, server: Server) -> dict[str, list[Path]]:
        """Data with its tablespaces, WAL and temporary files."""
        data = server.data
        spaces = [link.resolve() for link in sorted((data / "pg_tblspc").glob("*"))]
        found: dict[str, list[Path]] = {"data": [data, *spaces]}
        found["log"] = [(data / "pg_wal").resolve()]
        # With tablespaces of a layout, the location of temporary files depends on the workload.
        return found if spaces else {**found, "temp": [data]}

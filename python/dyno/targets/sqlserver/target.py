"""SQL Server at a URL as a target."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, cast

from dyno.bundle.model import TargetFacts
from dyno.contracts.advice import Catalog
from dyno.contracts.flash import Move, Wanted
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import Job, Maintenance, unsupported
from dyno.contracts.needs import Needs
from dyno.contracts.plans import QueryPlan
from dyno.contracts.target import Connection, Limits, TargetUrl, Texts
from dyno.contracts.whereabouts import Told
from dyno.errors import DynoError, TargetError, UsageError
from dyno.servers.here import Here
from dyno.servers.private import PrivateServer
from dyno.targets import mark
from dyno.targets.insert import insert_values
from dyno.targets.observers import Observers
from dyno.targets.server import InSession, ServerTarget
from dyno.targets.sessionprobe import SessionProbe
from dyno.targets.sqlserver import (
    catalog,
    ddl,
    diagnosis,
    examined,
    facts,
    filegroups,
    flash,
    inside,
    isolation,
    journal,
    maintenance,
    plans,
    procedures,
    provision,
    queries,
    removal,
    rights,
    script,
    sliding,
    whereabouts,
)
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session, literal
from dyno.targets.sqlserver.index import open_indexer
from dyno.targets.sqlserver.inside.inspector import SqlServerInspector
from dyno.targets.sqlserver.login import OBSERVER
from dyno.targets.sqlserver.meter import SqlServerMeter
from dyno.targets.sqlserver.space import Sizes, size_of
from dyno.targets.sqlserver.stored_columns import SqlServerColumns
from dyno.targets.sqlserver.tuned import Tuning
from dyno.workspace.footprint import Meter

LOCK_WAIT_S = 5
"""Lock wait timeout in seconds of a driven transaction, which is then retried and counted."""

_LOGGED = (
    "SELECT SUM(cntr_value) FROM sys.dm_os_performance_counters "
    "WHERE RTRIM(counter_name) = 'Log Bytes Flushed/sec' "
    "AND RTRIM(instance_name) NOT IN ('_Total', 'tempdb')"
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
    inspector=SqlServerInspector,
)


class SqlServerTarget(ServerTarget[Session, str, PrivateServer[Any]]):
    """Implements the protocol. A workload's tables are in the database ``dyno_<workload>``."""

    name = "sqlserver"
    PRIVATE: ClassVar = False
    BATCH_END: ClassVar = "GO"
    TEXTS: ClassVar = Texts(national="N")

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        tuning = partial(Tuning, home=(out / "engines" / self.name).resolve())
        super().__init__(url, out, limits, _no_private, tuning, _IN_SESSION)
        self._address = Address.parse(url)
        self._observers: Observers[Session] = Observers()

    def __enter__(self) -> Self:
        """Checks the server and applies the run's settings (see the protocol)."""
        try:
            return super().__enter__()
        except BaseException:
            with contextlib.suppress(TargetError):  # the first error is reported
                self._changed().restore(self.connect)
            raise

    def __exit__(self, *exc: object) -> None:
        """Restores the settings (see the protocol)."""
        try:
            self._changed().restore(self.connect)
        finally:
            super().__exit__(*exc)

    def _changed(self) -> Tuning:
        assert isinstance(self._tuning, Tuning)  # noqa: S101  (as given to the base class)
        return self._tuning

    @property
    def _called(self) -> str:
        return self._address.server

    def _reach(self, server: PrivateServer[Any]) -> NoReturn:
        raise AssertionError(server)

    def _facts(self, session: Session) -> TargetFacts:
        return facts.read(session, self.url, self._address)

    def _whereabouts(self, session: Session) -> Here:
        return whereabouts.find(session, self._address)

    def _told(self, session: Session) -> Told:
        return whereabouts.told(session)

    def scope(self, databases: Sequence[str]) -> None:
        """Limits options of databases to these (see :class:`dyno.contracts.tuning.Scoped`)."""
        self._changed().places = frozenset(map(mark.schema_of, databases))

    def connect(self, workload: str = "") -> Session:
        """Opens a session in which unqualified table names mean those of ``workload``."""
        database = mark.schema_of(workload) if workload else ""
        return Session.open(self._address, self.exit_reason, database)

    def _reader(self) -> Session:
        """Opens a session for catalogs, which does not wait long for other sessions' DDL."""
        return Session.open(self._address, self.exit_reason, settings=_QUIET)

    def observer(self) -> Session:
        """Opens a session for probes and the inspector, which do not count as active."""
        return Session.open(self._address, self.exit_reason, settings=_QUIET, program=OBSERVER)

    def _create(
        self, session: Session, workload: str, layout: Layout | None, *, replace: bool
    ) -> None:
        adopt = self._changed().adopt
        provision.create_tables(session, self._called, workload, layout, adopt, replace=replace)

    def before_start(self, layout: Layout) -> None:
        """Does nothing: the server runs already (see the protocol)."""

    def deviations(self, layout: Layout) -> list[str]:
        """A log or tempdb that was moved since the load."""
        if layout.log is None and layout.temp is None:
            return []
        with closing(self.connect()) as session:
            return filegroups.deviations(session, mark.schema_of(layout.workload), layout)

    def _files(self, session: Session) -> None:  # noqa: ARG002
        return None

    def _size(self, session: Session) -> int | None:
        return size_of(session, mark.schema_of(""))

    def data_bytes(self, workload: str) -> int | None:
        """Bytes of the workload's tables with their indexes; None if the server does not tell."""
        with closing(self.connect()) as session:
            return size_of(session, mark.schema_of(workload))

    def logged_bytes(self) -> int | None:
        """Bytes written to the logs of all databases but tempdb; None without VIEW SERVER STATE."""
        with closing(self.connect()) as session:
            try:
                found = session.execute(_LOGGED).rows[0][0]
            except DynoError as error:
                if not error.is_refusal:
                    raise
                return None
        return None if found is None else int(found)

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:  # noqa: ARG002
        """Adds generated rows by INSERT."""
        return insert_values(connection, rows, literal)

    def _step_log(
        self,
        session: Session,  # noqa: ARG002
        workload: str,
        layout: Layout | None,  # noqa: ARG002
        meter: Meter,
    ) -> Sizes:
        return Sizes(meter, self.observer, mark.schema_of(workload))

    def _finish(self, session: Session) -> dict[str, Any]:
        """Writes a checkpoint of the loaded database, so that later phases do not pay for it.

        Returns:
            Its seconds; nothing if this login or this server cannot do so.
        """
        start = time.monotonic()
        try:
            session.execute("CHECKPOINT")
        except DynoError as error:
            if not error.is_refusal:
                raise
            return {}
        return {"checkpoint": time.monotonic() - start}

    def wire(self, workload: str = "") -> dict[str, Any]:
        """Connection parameters for the Rust driver, with the workload's database."""
        found = self._address.wire()
        if workload:
            found["database"] = mark.schema_of(workload)
        found["lock_wait_s"] = LOCK_WAIT_S
        return found

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """A backup, a check, a rebuild or reorganisation of a database, or a sliding window."""
        if name == "sliding-window":
            return sliding.sliding_window(lambda: self.connect(workload), workload)
        return maintenance.job(self.connect, workload, name)

    def meter(self, connection: Connection) -> SqlServerMeter:
        """A meter of bytes read, bytes spilled and memory."""
        return SqlServerMeter(cast("Session", connection), self._observers)

    def probes(self) -> list[SessionProbe[Session]]:
        """The probes of ``inside``; each has its own session."""
        return self._observers.probes(self.observer, inside.probes(self.name))

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query."""
        return plans.explain(cast("Session", connection), sql, analyse=analyse)

    def examine(self, needs: Needs) -> None:
        """Refuses what this server cannot do (see :mod:`dyno.contracts.needs`)."""
        with closing(self.connect()) as session:
            reason = examined.lacks(session, self._called, needs)
        if reason and needs.maintenance is not None:
            raise unsupported(self, needs.maintenance, reason)

    def script(self, workload: str, layout: Layout | None, *, replace: bool) -> list[str]:
        """The statements of a load (see :mod:`dyno.contracts.script`)."""
        with closing(self.connect()) as session:
            return script.read(session, self._called, workload, layout, replace=replace)

    def move(self, wanted: Wanted) -> Move:
        """Where a part lies, and the commands that move it (see :mod:`dyno.contracts.flash`)."""
        with closing(self.connect()) as session:
            return flash.planned(session, self._address, wanted)

    def catalog(self) -> Catalog:
        """What advice needs (see :mod:`dyno.contracts.advice`)."""
        with closing(self._reader()) as session:
            return catalog.read(session)

    def column_reader(self) -> SqlServerColumns:
        """Its columns (see :mod:`dyno.contracts.stored_columns`)."""
        return SqlServerColumns(self._reader())

    def diagnosis(self) -> str:
        """A report on the server (see :mod:`dyno.contracts.diagnosis`)."""
        return diagnosis.report(self.url, self._address)

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """The neutral statement in T-SQL."""
        return queries.own(neutral)

    def _stored(self, server: PrivateServer[Any]) -> NoReturn:
        raise AssertionError(server)


# An open transaction with DDL locks rows of the catalogs until it ends.
_QUIET = ("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "SET LOCK_TIMEOUT 1000")


def _no_private(_folder: Path, _limits: Limits) -> NoReturn:
    raise UsageError("Dyno has no private SQL Server; use the URL of one.")

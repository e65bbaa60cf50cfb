"""Compares the counters of statements and tables at the ends of a period; resets none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dyno.contracts.inspection import Inspection
from dyno.errors import DynoError
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside import (
    clerks,
    files,
    performance,
    relations,
    sessions,
    statements,
    waitstats,
)
from dyno.targets.sqlserver.inside.views import OWN, Views, rights

STARTED_VIEW = "sys.dm_os_sys_info"
_PROBED = (performance.VIEW, sessions.VIEW, waitstats.VIEW, files.VIEW, clerks.VIEW)
"""The views of the probes."""
STARTED = f"{OWN}SELECT CONVERT(varchar(23), sqlserver_start_time, 126) FROM {STARTED_VIEW}"  # noqa: S608


@dataclass(frozen=True)
class _Snapshot:
    started: str
    statements: statements.Snapshot
    relations: relations.Snapshot
    views: Views


class SqlServerInspector:
    """Implements the protocol, in one session."""

    def __init__(self, connect: Callable[[], Session]) -> None:
        """Opens nothing.

        Args:
            connect: Opens a session.
        """
        self._connect = connect
        self._session: Session | None = None
        self._before: _Snapshot | None = None

    def begin(self) -> None:
        """Reads the counters at the start (see the protocol)."""
        self._before = self._read()

    def end(self) -> Inspection:
        """What was counted since then (see the protocol)."""
        before, after = self._before, self._read()
        self._before = after
        calls: statements.Snapshot = {}
        used: relations.Snapshot = {}
        if before is not None and before.started == after.started:
            calls, used = before.statements, before.relations
        return _compared(self._opened(), after, calls, used)

    def close(self) -> None:
        """Closes the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _read(self) -> _Snapshot:
        try:
            return _counted(self._opened())
        except DynoError as error:
            if error.kind != "connection_lost":
                raise
        self.close()  # the server may have restarted
        return _counted(self._opened())

    def _opened(self) -> Session:
        self._session = self._session or self._connect()
        return self._session


def since_start(session: Session) -> Inspection:
    """What was counted since the server started.

    Raises:
        DynoError: If the server does not respond.
    """
    return _compared(session, _counted(session), {}, {})


def _counted(session: Session) -> _Snapshot:
    views = Views()
    started = views.rows(session, STARTED_VIEW, STARTED)
    return _Snapshot(
        str(started[0][0]) if started else "",
        statements.read(session, views),
        relations.read(session, views),
        views,
    )


def _compared(
    session: Session,
    after: _Snapshot,
    calls: statements.Snapshot,
    used: relations.Snapshot,
) -> Inspection:
    ran = statements.between(session, after.views, calls, after.statements)
    names = relations.about(session, after.relations)
    found = relations.between(used, after.relations, names)
    for view in _PROBED if session.version.is_babelfish else ():  # so that one note has them all
        after.views.rows(session, view, f"{OWN}SELECT TOP (0) 1 AS one FROM {view}")  # noqa: S608
    return Inspection(ran, found, [*rights(session), *after.views.notes])

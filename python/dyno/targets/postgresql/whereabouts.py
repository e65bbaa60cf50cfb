"""Finds process and files of a PostgreSQL at a URL, if they are on this machine.

The session's backend is searched for among the local processes by id and start time, because a
local port may lead to a container or, through a tunnel, to another machine. Nothing here fails a
run: unknowns become notes.
"""

from __future__ import annotations

import csv
from pathlib import Path

import psutil
from psycopg import sql

from dyno.bundle.model import Role
from dyno.errors import DynoError
from dyno.servers.here import ELSEWHERE, UNSEEN, Here, shares_files
from dyno.targets.postgresql.address import is_local
from dyno.targets.postgresql.connection import PostgresConnection

RIGHT = "pg_read_all_settings"
"""The role that may read the data location; superusers and pg_monitor are members."""

_NAMES = ("postgres", "postmaster")
_MOST_SKEW_S = 5.0
"""Allowed difference of start times: the kernel counts from boot, the server by its wall clock."""


def find(session: PostgresConnection) -> Here:
    """Process and paths of the server of ``session``."""
    if not is_local(session.raw.info.hostaddr):
        return ELSEWHERE
    try:
        backend = _backend(session)
        if backend is None:
            return UNSEEN
        shown = session.execute("SELECT setting FROM pg_settings WHERE name = 'data_directory'")
        if not shown.rows:
            return Here(_postmaster(backend), notes=(_missing_right(session),))
        data = Path(str(shown.rows[0][0]))
        if not shares_files(backend, data):
            return UNSEEN
        storage: dict[Role, list[Path]] = {}
        notes: list[str] = []
        spaces = _tablespaces(session, data)
        storage["data"] = list(dict.fromkeys([data, *spaces.values()]))
        try:
            storage["log"] = [_linked(data / "pg_wal")]
        except OSError:
            notes.append(
                f"this user may not read the link {data / 'pg_wal'}: run Dyno as the server's "
                "user or as root to find the log device"
            )
        temp = _temp(session, spaces)
        if temp:
            storage["temp"] = temp
        return Here(_postmaster(backend), storage, tuple(notes))
    except (DynoError, psutil.Error, OSError) as error:
        return Here(notes=(f"the location of the server's files is unknown: {error}",))


def _backend(session: PostgresConnection) -> psutil.Process | None:
    """The process that serves the session, if it is on this machine."""
    own = session.execute(
        "SELECT pid, extract(epoch FROM backend_start)::float8 FROM pg_stat_activity "
        "WHERE pid = pg_backend_pid()"
    )
    for pid, started in own.rows:
        try:
            process = psutil.Process(pid)
            close = started is not None and abs(process.create_time() - started) < _MOST_SKEW_S
            if close and _is_server(process):
                return process
        except psutil.Error:
            return None
    return None


def _postmaster(backend: psutil.Process) -> int | None:
    parent = backend.parent()
    return parent.pid if parent is not None and _is_server(parent) else None


def _is_server(process: psutil.Process) -> bool:
    return any(name in process.name() for name in _NAMES)


def _missing_right(session: PostgresConnection) -> str:
    user = session.execute("SELECT current_user").rows[0][0]
    grant = sql.SQL("GRANT {} TO {};").format(sql.Identifier(RIGHT), sql.Identifier(str(user)))
    return (
        f"the role {user} may not read data_directory; let an administrator run: "
        f"{grant.as_string(session.raw)}"
    )


def _tablespaces(session: PostgresConnection, data: Path) -> dict[str, Path]:
    """The folders of all tablespaces by name; ``data`` for the two built-in ones."""
    listed = session.execute("SELECT spcname, pg_tablespace_location(oid) FROM pg_tablespace")
    # An in-place tablespace has a relative path.
    return {str(name): data / str(place) if place else data for name, place in listed.rows}


def _linked(path: Path) -> Path:
    """Resolves a link; other paths are unchanged.

    Raises:
        OSError: If this user lacks access.
    """
    path.lstat()
    return path.resolve()


def _temp(session: PostgresConnection, spaces: dict[str, Path]) -> list[Path]:
    """Folders of temporary files of sessions; empty if unknown.

    They are in the tablespaces of ``temp_tablespaces``, or else in the database's own.
    """
    setting, usual = session.execute(
        "SELECT current_setting('temp_tablespaces'), spcname FROM pg_database d "
        "JOIN pg_tablespace t ON t.oid = d.dattablespace WHERE datname = current_database()"
    ).rows[0]
    named = next(csv.reader([str(setting)], skipinitialspace=True), [])
    names = [name.strip() for name in named if name.strip()] or [str(usual)]
    found = [spaces.get(name) or spaces.get(name.lower()) for name in names]
    known = [place for place in found if place is not None]
    return list(dict.fromkeys(known)) if len(known) == len(found) else []

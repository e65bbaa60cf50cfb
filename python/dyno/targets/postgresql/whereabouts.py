"""Finds process and files of a PostgreSQL at a URL.

The session's backend is searched for among the processes of its machine by id and start time.
Nothing here fails a run: unknowns become notes.
"""

from __future__ import annotations

import csv

import psutil
from psycopg import sql

from dyno.contracts.layout import TABLESPACE
from dyno.contracts.whereabouts import Told
from dyno.errors import DynoError
from dyno.servers.here import ELSEWHERE, Here, locate
from dyno.targets.postgresql.address import is_local
from dyno.targets.postgresql.connection import PostgresConnection

RIGHT = "pg_read_all_settings"
"""The role that may read the data location; superusers and pg_monitor are members."""

_PROGRAMS = ("postgres", "postmaster")
_LOG = "pg_wal"
_HERE = "."
"""The data folder itself."""


def find(session: PostgresConnection) -> Here:
    """Process and paths of the server of ``session``, if they are on this machine."""
    if not is_local(session.raw.info.hostaddr):
        return ELSEWHERE
    try:
        return locate(told(session))
    except (DynoError, psutil.Error, OSError) as error:
        return Here(notes=(f"the location of the server's files is unknown: {error}",))


def told(session: PostgresConnection) -> Told:
    """What the server of ``session`` says about its process and files.

    Raises:
        DynoError: If it does not respond.
    """
    own = session.execute(
        "SELECT pid, extract(epoch FROM clock_timestamp() - backend_start)::float8 "
        "FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    )
    pid, age_s = own.rows[0] if own.rows else (0, None)
    shown = session.execute("SELECT setting FROM pg_settings WHERE name = 'data_directory'")
    if not shown.rows:
        return Told(_PROGRAMS, pid, age_s, notes=(_missing_right(session),))
    spaces = _tablespaces(session)
    places: dict[str, tuple[str, ...]] = {
        **{f"{TABLESPACE}{name}": (place,) for name, place in spaces.items() if place != _HERE},
        "data": tuple(dict.fromkeys([_HERE, *spaces.values()])),
        "log": (_LOG,),
        "temp": _temp(session, spaces),
    }
    return Told(
        _PROGRAMS,
        pid,
        age_s,
        str(shown.rows[0][0]),
        {role: paths for role, paths in places.items() if paths},
        _LOG,
    )


def _missing_right(session: PostgresConnection) -> str:
    user = session.execute("SELECT current_user").rows[0][0]
    grant = sql.SQL("GRANT {} TO {};").format(sql.Identifier(RIGHT), sql.Identifier(str(user)))
    return (
        f"the role {user} may not read data_directory; let an administrator run: "
        f"{grant.as_string(session.raw)}"
    )


def _tablespaces(session: PostgresConnection) -> dict[str, str]:
    """The folders of all tablespaces by name; the data folder for the two built-in ones."""
    listed = session.execute("SELECT spcname, pg_tablespace_location(oid) FROM pg_tablespace")
    # An in-place tablespace has a path relative to the data folder.
    return {str(name): str(place) or _HERE for name, place in listed.rows}


def _temp(session: PostgresConnection, spaces: dict[str, str]) -> tuple[str, ...]:
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
    return tuple(dict.fromkeys(known)) if len(known) == len(found) else ()

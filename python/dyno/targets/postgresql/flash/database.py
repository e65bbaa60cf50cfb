"""A database on flash: its default tablespace, which the server moves as a whole."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from psycopg import sql

from dyno.config.units import bytes_text
from dyno.contracts.flash import Move, Step, Wanted
from dyno.contracts.layout import TABLESPACE
from dyno.errors import DiskFullError, DynoError, TargetError, UsageError
from dyno.targets.postgresql import whereabouts
from dyno.targets.postgresql.address import Address, require_version
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run
from dyno.targets.postgresql.flash import spaces
from dyno.targets.postgresql.flash.at import At
from dyno.targets.postgresql.flash.spaces import Record

_USUAL = "pg_default"


@dataclass(frozen=True)
class _Database:
    """A database.

    Attributes:
        flash: Name of Dyno's tablespace for it; a new name of the database does not change it.
        space: Its default tablespace.
        size: Bytes.
        others: Other tablespaces with tables of it.
    """

    name: str
    flash: str
    space: str
    size: int
    others: tuple[str, ...]

    @property
    def on_flash(self) -> bool:
        """Whether it lies in Dyno's tablespace."""
        return self.space == self.flash


def planned(at: At, address: Address, wanted: Wanted) -> Move:
    """What is left to do (see :mod:`dyno.contracts.flash`)."""
    name = wanted.database or str(address.conninfo.get("dbname") or "")
    if not name:
        raise UsageError("Give --database, or the database in the URL.")
    # The server moves a database only while no session is in it.
    at = At(partial(at.open, dbname="template1" if name == "postgres" else "postgres"), at.server)
    with closing(at.open()) as session:
        require_version(session, at.server)
        at.require_admin(session)
        found = _read(session, at, name)
        plan = _back if wanted.back else _onto
        steps, notes, obstacle = plan(at, session, found, wanted)
        now = f"database {name}, {bytes_text(found.size)}, in the tablespace {found.space}"
        return Move(found.flash, now, found.on_flash, tuple(steps), (), obstacle, tuple(notes))


def _onto(
    at: At, session: PostgresConnection, found: _Database, wanted: Wanted
) -> tuple[list[Step], list[str], DynoError | None]:
    space, steps, notes = spaces.find(session, found.flash), list[Step](), list[str]()
    obstacle: DynoError | None = None
    if space is None:
        steps, notes, obstacle = spaces.creation(at, session, found.flash, wanted)
    else:
        spaces.require_same(space, wanted)
    if found.on_flash:
        return steps, notes, obstacle
    record = Record("database", found.space)
    if space is None or space.record != record:
        steps.append(spaces.recorded(at, session, found.flash, record))
    steps.append(_set(at, session, found, found.flash))
    if found.others:
        notes.append(f"Its tables in {', '.join(found.others)} stay there.")
    notes.append(
        "The server copies all files, with a checkpoint before and after it; nobody can connect to "
        "the database meanwhile."
    )
    obstacle = obstacle or _busy(session, found) or _full(session, found, wanted.folder)
    return steps, notes, obstacle


def _back(
    at: At,
    session: PostgresConnection,
    found: _Database,
    wanted: Wanted,  # noqa: ARG001
) -> tuple[list[Step], list[str], DynoError | None]:
    space, steps, notes = spaces.find(session, found.flash), list[Step](), list[str]()
    if space is None:
        return [], [], None
    obstacle: DynoError | None = None
    if found.on_flash:
        before = None if space.record is None else space.record.before
        if before is None:
            notes.append(f"Its tablespace before is unknown; {_USUAL} is the usual one.")
            before = _USUAL
        steps.append(_set(at, session, found, before))
        obstacle = _busy(session, found) or _full(session, found, _folder(session, before))
    return [*steps, spaces.removal(at, session, space)], notes, obstacle


def _set(at: At, session: PostgresConnection, found: _Database, space: str) -> Step:
    names = sql.Identifier(found.name), sql.Identifier(space)
    return at.step(session, "ALTER DATABASE {} SET TABLESPACE {}", *names)


def _busy(session: PostgresConnection, found: _Database) -> DynoError | None:
    """The error while sessions are in the database. Dyno ends none; the server ends its own."""
    query = sql.SQL(
        "SELECT count(*), string_agg(DISTINCT usename, ', ') FROM pg_stat_activity "
        "WHERE datname = {} AND backend_type <> 'autovacuum worker'"
    )
    count, users = run(session, [query.format(sql.Literal(found.name))])[0]
    if not count:
        return None
    return TargetError(
        f"The database {found.name} has {count} session(s) (of {users}). The server moves a "
        "database without sessions only; end them and run this again.",
        kind="database",
    )


def _full(session: PostgresConnection, found: _Database, folder: str) -> DynoError | None:
    """The error if a folder on this machine has less free space than the database needs."""
    if found.others or whereabouts.find(session).pid is None:
        return None
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return None
    if free >= found.size:
        return None
    return DiskFullError(
        f"{folder} has {bytes_text(free)} free; the database {found.name} needs "
        f"{bytes_text(found.size)}."
    )


def _folder(session: PostgresConnection, space: str) -> str:
    """The folder of a tablespace on this machine; empty if unknown."""
    storage = whereabouts.find(session).storage
    places = storage.get(f"{TABLESPACE}{space}") or storage.get("data") or [Path()]
    return str(places[0])


def _read(session: PostgresConnection, at: At, name: str) -> _Database:
    query = sql.SQL(
        "SELECT d.oid, spcname, pg_database_size(d.oid), (SELECT array_agg(o.spcname ORDER BY 1) "
        "FROM pg_tablespace o WHERE o.oid <> dattablespace AND o.spcname <> 'pg_global' "
        "AND d.oid IN (SELECT pg_tablespace_databases(o.oid))) "
        "FROM pg_database d JOIN pg_tablespace t ON t.oid = dattablespace WHERE datname = {}"
    )
    for oid, space, size, others in run(session, [query.format(sql.Literal(name))]):
        return _Database(name, f"dyno_flash_db_{oid}", space, int(size), tuple(others or ()))
    raise UsageError(f"{at.server} has no database {name}.")

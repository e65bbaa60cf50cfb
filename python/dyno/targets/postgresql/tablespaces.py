"""Volumes as tablespaces: created and marked by Dyno, dropped when it has no tables in them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from psycopg import sql

from dyno.contracts.layout import TABLESPACE, Layout
from dyno.errors import DynoError, TargetError, UsageError
from dyno.servers import private
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.binaries import Binaries
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.layout import Live
from dyno.workspace import places

MARK = "dyno: a volume of a layout"
PREFIX = "dyno_"


Home = private.Home[Binaries]


def name_of(volume: str) -> str:
    """The tablespace of a volume; the user's own if the layout names one."""
    if volume.startswith(TABLESPACE):
        return volume.removeprefix(TABLESPACE)
    return f"{PREFIX}{hashlib.sha256(volume.encode()).hexdigest()[:10]}"


def ensure(session: PostgresConnection, layout: Layout, live: Live, home: Home | None) -> None:
    """Creates the missing tablespaces of a layout.

    Args:
        session: A session, of a superuser if any must be created.
        layout: The layout.
        live: The features of the server.
        home: The private server's; None for a server at a URL, on whose machine the folder on the
            volume must exist, be empty and belong to the server's user.

    Raises:
        UsageError: If the user may not create one, with the statement to run.
        TargetError: If the server cannot use the folder.
    """
    present = _present(session)
    for volume in dict.fromkeys((*layout.data_volumes(), layout.temp)):
        if volume is None or volume.startswith(TABLESPACE) or name_of(volume) in present:
            continue
        name = sql.Identifier(name_of(volume))
        if not live.superuser:
            raise UsageError(_no_superuser(session, layout, volume))
        location = volume if home is None else str(_folder(Path(volume), home))
        try:
            ddl.run(
                session,
                [sql.SQL("CREATE TABLESPACE {} LOCATION {}").format(name, sql.Literal(location))],
            )
        except DynoError as error:
            raise _unusable(error, layout, volume) from error
        text = sql.Literal(f"{MARK}, {volume}")
        ddl.run(session, [sql.SQL("COMMENT ON TABLESPACE {} IS {}").format(name, text)])


def temp_setting(session: PostgresConnection, layout: Layout | None) -> dict[str, str]:
    """The session setting that places temporary files on the layout's volume.

    Empty if the layout names none, or this user can no longer use its tablespace.
    """
    if layout is None or layout.temp is None:
        return {}
    name = name_of(layout.temp)
    query = sql.SQL(
        "SELECT quote_ident(spcname) FROM pg_tablespace "
        "WHERE spcname = {} AND has_tablespace_privilege(spcname, 'CREATE')"
    ).format(sql.Literal(name))
    rows = ddl.run(session, [query])
    return {"temp_tablespaces": str(rows[0][0])} if rows else {}


def deviations(session: PostgresConnection, layout: Layout, log: Path | None) -> list[str]:
    """Deviations of log and temporary files from a layout.

    Args:
        session: A session.
        layout: The layout that the data was loaded with.
        log: Path of the log; None if unknown.
    """
    found: list[str] = []
    if layout.log is not None and log is not None and not log.is_relative_to(layout.log):
        found.append(f"The log is no longer on {layout.log}, but in {log}.")
    if layout.temp is not None and not temp_setting(session, layout):
        found.append(f"Temporary files are no longer on {layout.temp}.")
    return found


def sweep(session: PostgresConnection, layout: Layout | None, home: Path | None) -> list[str]:
    """Drops Dyno's tablespaces that a layout does not use and that are empty.

    Args:
        session: A session.
        layout: The layout to preserve.
        home: The private server's folder; its folders on the volumes are removed as well.

    Returns:
        Names of the dropped tablespaces.
    """
    volumes = (*layout.data_volumes(), layout.temp) if layout is not None else ()
    kept = {name_of(volume) for volume in volumes if volume is not None}
    gone: list[str] = []
    for name, ours in _present(session).items():
        if not ours or name in kept:
            continue
        location = _location(session, name)
        try:
            ddl.run(session, [sql.SQL("DROP TABLESPACE {}").format(sql.Identifier(name))])
        except DynoError:
            continue  # it has tables of another workload or database
        gone.append(name)
        if home is not None:
            place = location.parent
            if not any(entry.name == "wal" for entry in place.iterdir()):
                places.release(home, [place])
    return gone


def own(session: PostgresConnection) -> list[str]:
    """Names of the tablespaces with Dyno's mark."""
    return [name for name, ours in _present(session).items() if ours]


def locations(session: PostgresConnection) -> list[Path]:
    """Folders of all tablespaces except the built-in ones."""
    rows = session.execute(
        "SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname NOT LIKE 'pg\\_%'"
    ).rows
    return [Path(row[0]) for row in rows if row[0]]


def _present(session: PostgresConnection) -> dict[str, bool]:
    """All tablespaces, and whether they have Dyno's mark."""
    rows = session.execute(
        "SELECT spcname, shobj_description(oid, 'pg_tablespace') FROM pg_tablespace"
    ).rows
    return {str(name): str(text or "").startswith(MARK) for name, text in rows}


def _location(session: PostgresConnection, name: str) -> Path:
    query = sql.SQL("SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = {}")
    return Path(str(ddl.run(session, [query.format(sql.Literal(name))])[0][0]))


def _folder(volume: Path, home: Home) -> Path:
    """An empty folder on the volume that belongs to the private server.

    Raises:
        TargetError: If the server's user cannot reach it.
    """
    place = places.claim(volume, home.path, home.identity.owner)
    folder = place / "tablespace"
    folder.mkdir(mode=0o700, exist_ok=True)
    require_reach(folder, volume, home)
    return folder


def require_reach(folder: Path, volume: Path, home: Home) -> None:
    """Gives a folder on a volume to the server's user, and verifies that this user can reach it.

    Raises:
        TargetError: If not.
    """
    if home.identity.owner[0] != os.geteuid():
        os.chown(folder, *home.identity.owner)
    command = [home.programs.program("postgres"), "--version"]
    code, _ = home.identity.run(command, folder)
    if code != 0:
        raise TargetError(
            f"The private PostgreSQL runs {home.identity} and cannot reach {volume}. Make "
            "its parent folders accessible (chmod o+x), or use another volume.",
            kind="denied",
        )


def _no_superuser(session: PostgresConnection, layout: Layout, volume: str) -> str:
    user = session.execute("SELECT current_user").rows[0][0]
    statement = (
        sql.SQL("CREATE TABLESPACE {} OWNER {} LOCATION {};")
        .format(sql.Identifier(name_of(volume)), sql.Identifier(user), sql.Literal(volume))
        .as_string(session.raw)
    )
    return (
        f"Layout {layout.name} needs a tablespace on {volume}, which only a superuser "
        f"can create; {user} is not one. As a superuser, run: {statement} Or name an "
        "existing tablespace as tablespace:NAME, after GRANT CREATE ON TABLESPACE NAME "
        f"TO {user};"
    )


def _unusable(error: DynoError, layout: Layout, volume: str) -> DynoError:
    text = str(error)
    if not any(word in text for word in ("does not exist", "ermission", "not empty", "in use")):
        return error
    return TargetError(
        f"Layout {layout.name}: the server cannot use {volume}: {text} It must be an "
        "empty folder of the server's user on the server's machine: install -d -o "
        f"postgres -g postgres -m 700 {volume}",
        kind="io",
    )

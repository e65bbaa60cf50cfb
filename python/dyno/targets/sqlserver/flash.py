"""tempdb and the log of a database on flash: the T-SQL that moves them, and where they lie.

tempdb moves when the server restarts, a log while its database is offline. Dyno restarts no server
of others and takes none of their databases offline, so it prints the commands.

Source: Microsoft, "Move system databases", "Move user databases".
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath

from dyno.contracts.flash import Move, Part, Wanted
from dyno.errors import UsageError
from dyno.safety.text import plain, require_text
from dyno.servers import onflash
from dyno.targets.sqlserver import filegroups, whereabouts
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.filegroups import File

LACKS: Mapping[Part, str] = {
    "database": "its files move while it is offline: ALTER DATABASE … MODIFY FILE, as for a log. "
    "For tables of Dyno's, name the flash device with dyno load --volumes",
}
NO_CACHE = (
    "on Linux, Microsoft supports the files of SQL Server on ext4 and XFS only, and Dyno's cache "
    "is a mount of its own"
)
"""Why no cache of Dyno's goes in front of its files."""

_BABELFISH = "Babelfish stores its tables in PostgreSQL's folder: give the URL of its PostgreSQL."
_SYSTEM = ("master", "model", "msdb", "tempdb")
_USER = "mssql"
_DEFAULTS: Mapping[Part, str] = {
    "temp": "InstanceDefaultDataPath",
    "log": "InstanceDefaultLogPath",
}
_SAFE = (
    "Without its log a database is lost: the flash device must be as safe as that of the data.",
)


def planned(session: Session, address: Address, wanted: Wanted) -> Move:
    """Where a part lies, and the commands (see :mod:`dyno.contracts.flash`)."""
    if session.version.is_babelfish:
        raise UsageError(_BABELFISH)
    if session.version.is_cloud:
        raise UsageError("Azure places the files of a database itself.")
    database = "tempdb" if wanted.part == "temp" else _database(session)
    name = f"dyno_flash_{wanted.part}"
    found = filegroups.files(session, database)
    own = found if wanted.part == "temp" else [file for file in found if not file.group]
    if wanted.folder:
        path = _within(wanted.folder, name)
        there = bool(own) and all(filegroups.within(path, file.path) for file in own)
    else:
        path = _default(session, wanted.part)
        there = bool(own) and all(filegroups.folder_of(file.path) == name for file in own)
    now = f"{database}: {', '.join(plain(file.path) for file in own)}"
    if there is not wanted.back:
        return Move(name, now, there)
    target = _default(session, wanted.part) if wanted.back else path
    owner = onflash.owner_of(whereabouts.find(session, address).pid)
    lines = [
        *([] if wanted.back else _folder(target, owner)),
        *filegroups.moves(database, own, target),
        *(_restart() if wanted.part == "temp" else _offline(database, own, target, owner)),
    ]
    notes = () if wanted.part == "temp" or wanted.back else _SAFE
    return Move(name, now, there, script=tuple(lines), notes=notes)


def _database(session: Session) -> str:
    """The database of the URL.

    Raises:
        UsageError: If it is one of the system's.
    """
    name = str(session.execute("SELECT DB_NAME()").rows[0][0])
    if name in _SYSTEM:
        raise UsageError(f"Name the database in the URL; the log of {name} does not move.")
    return name


def _default(session: Session, part: Part) -> str:
    """The server's folder for new files."""
    asked = f"SELECT CAST(SERVERPROPERTY({literal(_DEFAULTS[part])}) AS nvarchar(260))"
    return str(session.execute(asked).rows[0][0] or "")


def _within(folder: str, name: str) -> str:
    """Dyno's folder in the user's, on Linux or Windows.

    Raises:
        UsageError: If the user's is not an absolute path.
    """
    windows = PureWindowsPath(folder)
    if windows.drive and windows.is_absolute() and plain(folder) == folder:
        require_text(folder)
        return str(windows / name)
    return onflash.within(folder, name)


def _folder(path: str, owner: onflash.Owner | None) -> list[str]:
    if not path.startswith("/"):
        return [f"-- Make the folder {path}; the account of the service needs full control of it."]
    return ["-- Make the folder:", f"--   {onflash.install(path, owner, _USER)}"]


def _restart() -> list[str]:
    return [
        "-- Restart the server, for example:",
        "--   sudo systemctl restart mssql-server",
        "-- --check shows where tempdb is then. Remove the old files.",
    ]


def _offline(
    database: str, own: Sequence[File], target: str, owner: onflash.Owner | None
) -> list[str]:
    user = shlex.quote(_USER if owner is None else owner.name)
    return [
        f"ALTER DATABASE {quoted(database)} SET OFFLINE WITH ROLLBACK IMMEDIATE;",
        "-- Move the files, with their owner and rights:",
        *(
            f"--   sudo -u {user} mv {shlex.quote(file.path)} "
            f"{shlex.quote(posixpath.join(target, ''))}"
            if file.path.startswith("/")
            else f'--   move "{file.path}" "{target}"'
            for file in own
        ),
        f"ALTER DATABASE {quoted(database)} SET ONLINE;",
    ]

"""Finds process and files of a MySQL or MariaDB at a URL.

Nothing here fails a run: unknowns become notes.
"""

from __future__ import annotations

import posixpath

import psutil

from dyno.contracts.whereabouts import Told
from dyno.errors import DynoError
from dyno.servers.here import ELSEWHERE, Here, locate
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.connection import MysqlConnection

_PROGRAMS = ("mariadbd", "mysqld")
_DATA = ("innodb_data_home_dir", "innodb_undo_directory")
_LOG = "innodb_log_group_home_dir"
_TEMP = "tmpdir"


def find(session: MysqlConnection, address: Address) -> Here:
    """Process and paths of the server of ``session``, if they are on this machine."""
    if not address.is_local:
        return ELSEWHERE
    try:
        return locate(told(session, address))
    except (DynoError, LookupError, ValueError, psutil.Error, OSError) as error:
        return Here(notes=(f"the location of the server's files is unknown: {error}",))


def told(session: MysqlConnection, address: Address) -> Told:
    """What the server of ``session`` says about its files.

    Raises:
        DynoError, LookupError, ValueError: If it does not say it.
    """
    names = ", ".join(f"'{name}'" for name in ("datadir", *_DATA, _LOG, _TEMP))
    listed = session.execute(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})").rows
    shown = {str(name).lower(): str(value or "") for name, value in listed}
    uptime = session.execute("SHOW GLOBAL STATUS LIKE 'Uptime'").rows
    data = shown["datadir"]
    # Relative paths start at the data folder, the server's working directory.
    places: dict[str, tuple[str, ...]] = {
        "data": _paths(data, data, *(shown.get(name, "") for name in _DATA)),
        "log": _paths(data, shown.get(_LOG) or "."),
        "temp": _paths(data, *shown.get(_TEMP, "").split(":")),
    }
    return Told(
        _PROGRAMS,
        # A socket identifies the server, and the wall clock may have been set meanwhile.
        age_s=None if address.unix_socket else float(uptime[0][1]),
        data=data,
        places={role: paths for role, paths in places.items() if paths},
    )


def _paths(data: str, *texts: str) -> tuple[str, ...]:
    whole = (posixpath.normpath(posixpath.join(data, text)) for text in texts if text)
    return tuple(dict.fromkeys(whole))

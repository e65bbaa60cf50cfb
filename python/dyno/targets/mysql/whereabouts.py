"""Finds process and files of a MySQL or MariaDB at a URL, if they are on this machine.

A local port may lead to a container or, through a tunnel, to another machine. So a local process
must be found that works in the server's data folder. Nothing here fails a run: unknowns become
notes.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import psutil

from dyno.bundle.model import Role
from dyno.errors import DynoError
from dyno.servers.here import ELSEWHERE, UNSEEN, Here, shares_files
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.connection import MysqlConnection

_PROGRAMS = ("mariadbd", "mysqld")
_MOST_SKEW_S = 5.0
"""Allowed difference of start times: the kernel counts from boot, the server from readiness."""

_DATA = ("innodb_data_home_dir", "innodb_undo_directory")
_LOG = "innodb_log_group_home_dir"
_TEMP = "tmpdir"


def find(session: MysqlConnection, address: Address) -> Here:
    """Process and paths of the server of ``session``."""
    if not address.is_local:
        return ELSEWHERE
    try:
        names = ", ".join(f"'{name}'" for name in ("datadir", *_DATA, _LOG, _TEMP))
        listed = session.execute(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})").rows
        shown = {str(name).lower(): str(value or "") for name, value in listed}
        uptime = session.execute("SHOW GLOBAL STATUS LIKE 'Uptime'").rows
        data = Path(shown["datadir"])
        # A socket identifies the server, and the wall clock may have been set meanwhile.
        started = None if address.unix_socket else time.time() - float(uptime[0][1])
        pid = _process(data, started)
    except (DynoError, LookupError, ValueError) as error:
        return Here(notes=(f"the location of the server's files is unknown: {error}",))
    if pid is None:
        return UNSEEN
    # Relative paths start at the data folder, the server's working directory.
    storage: dict[Role, list[Path]] = {
        "data": _places(data, [str(data), *(shown.get(name, "") for name in _DATA)]),
        "log": _places(data, [shown.get(_LOG) or "."]),
    }
    temp = _places(data, shown.get(_TEMP, "").split(":"))
    return Here(pid, {**storage, "temp": temp} if temp else storage)


def _places(data: Path, texts: list[str]) -> list[Path]:
    return list(dict.fromkeys((data / text).resolve() for text in texts if text))


def _process(data: Path, started: float | None) -> int | None:
    """The only local process that works in the data folder, and started then if that is known."""
    found: list[int] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.name() not in _PROGRAMS:
                continue
            other = started is not None and abs(process.create_time() - started) > _MOST_SKEW_S
            if not other and shares_files(process, data):
                found.append(process.pid)
    return found[0] if len(found) == 1 else None

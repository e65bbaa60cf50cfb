"""Finds process and files of a SQL Server at a URL.

Nothing here fails a run: unknowns become notes.
"""

from __future__ import annotations

import posixpath

import psutil

from dyno.contracts.whereabouts import Told
from dyno.errors import DynoError
from dyno.servers.here import ELSEWHERE, Here, locate
from dyno.targets.reach import LOOPBACK
from dyno.targets.sqlserver import volumes
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside.inspector import STARTED_VIEW
from dyno.targets.sqlserver.inside.views import OWN, Views

_PROGRAMS = ("sqlservr",)
AGE = f"{OWN}SELECT DATEDIFF(second, sqlserver_start_time, SYSDATETIME()) FROM {STARTED_VIEW}"  # noqa: S608
_BABELFISH = "Babelfish does not tell where its files are"
_WINDOWS = (
    "the server's files are on Windows: Dyno finds devices of Linux only"  # a path with a drive
)


def find(session: Session, address: Address) -> Here:
    """Process and paths of the server of ``session``, if they are on this machine."""
    if address.host not in LOOPBACK:
        return ELSEWHERE
    if session.version.is_babelfish:
        return Here(notes=(_BABELFISH,))
    try:
        return locate(told(session))
    except (DynoError, LookupError, ValueError, psutil.Error, OSError) as error:
        return Here(notes=(f"the location of the server's files is unknown: {error}",))


def told(session: Session) -> Told:
    """What the server of ``session`` says about its files.

    Raises:
        DynoError: If it does not respond.
    """
    found = volumes.read(session)
    age = Views().rows(session, STARTED_VIEW, AGE)
    age_s = float(age[0][0]) if age else None
    paths = {role: found.paths(role) for role in ("data", "log", "temp")}
    if any("\\" in path for own in paths.values() for path in own):
        return Told(_PROGRAMS, age_s=age_s, notes=(_WINDOWS, *found.notes))
    master = [one.path for one in found.files if one.database == "master" and one.role == "data"]
    home = _home(master[0]) if master else ""
    places = {
        role: tuple(dict.fromkeys(map(posixpath.dirname, own))) for role, own in paths.items()
    }
    return Told(
        _PROGRAMS,
        age_s=age_s,
        data=home,
        places={role: own for role, own in places.items() if own},
        notes=found.notes,
    )


def _home(master: str) -> str:
    """The working directory of the service, by the path of the database ``master``.

    Microsoft's packages for Linux start the service in ``/var/opt/mssql``, above ``data``.
    """
    folder = posixpath.dirname(master)
    return posixpath.dirname(folder) if posixpath.basename(folder) == "data" else folder

"""Online maintenance of SQL Server: which tasks it has, and what this server cannot do.

Shrinking files (``DBCC SHRINKFILE``) is not offered: it moves pages to the front of a file, which
fragments every index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dyno.contracts.maintenance import Job, Maintenance
from dyno.errors import DynoError
from dyno.targets.sqlserver.backup import CLOUD, DatabaseBackup
from dyno.targets.sqlserver.integrity import DatabaseCheck, PhysicalCheck
from dyno.targets.sqlserver.newdatabase import new_database
from dyno.targets.sqlserver.rebuild import Rebuild, Reorganise
from dyno.targets.sqlserver.version import Version
from dyno.targets.sqlserver.work import Connect

_BABELFISH = "{version} has no {statement}; SQL Server has"
_STATEMENTS: Mapping[Maintenance, str] = {
    "integrity-check": "DBCC CHECKDB",
    "quick-check": "DBCC CHECKDB",
    "reindex": "ALTER INDEX",
    "vacuum": "ALTER INDEX",
    "backup": "BACKUP DATABASE",
    "create-database": "ALTER DATABASE … MODIFY FILE",
    "sliding-window": "ALTER TABLE … SWITCH",
}
_TASKS: Mapping[Maintenance, Callable[[Connect, str], Job]] = {
    "integrity-check": DatabaseCheck,
    "quick-check": PhysicalCheck,
    "reindex": Rebuild,
    "vacuum": Reorganise,
    "backup": DatabaseBackup,
}


def lacks(version: Version, name: Maintenance) -> str | None:
    """Why a server cannot do a task; None if its version can."""
    if version.is_babelfish:
        return _BABELFISH.format(version=version, statement=_STATEMENTS[name])
    if name == "backup" and version.is_cloud:
        return CLOUD
    return None


def job(connect: Connect, workload: str, name: Maintenance) -> Job | str:
    """The task for a workload's database, or the reason why this server cannot do it.

    Args:
        connect: Opens a session in the database of a workload.
        workload: The workload.
        name: The task; ``sliding-window`` is another module's.

    Raises:
        DynoError: If the server does not respond.
    """
    session = connect("")
    version = session.version
    session.close()
    if reason := lacks(version, name):
        return reason
    if name == "create-database":
        return new_database(lambda: connect(""))
    try:
        return _TASKS[name](connect, workload)
    except DynoError as error:
        if error.kind != "denied":
            raise
        return str(error).rstrip(".")

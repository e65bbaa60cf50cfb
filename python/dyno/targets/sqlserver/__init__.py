"""SQL Server by URL.

A workload's tables are in a database of their own, ``dyno_<workload>``. Its login needs::

    GRANT CREATE ANY DATABASE TO [login];

or such a database that an administrator has created, as its ``db_owner``. So it needs no rights on
the data of others. What Dyno reads about the server needs VIEW SERVER STATE
(``docs/sqlserver.md``).
"""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.target import Limits, Target, TargetUrl

SCHEMES = ("mssql", "sqlserver")
EXAMPLE = "mssql://user@host:1433/database"
EMBEDDED = False
SERVER = True
STORE = "row store"
TRIED = "Babelfish 4.3 by automated tests; not yet SQL Server"
# Assumed, not measured: rows with all keys and indexes, and the log of a load.
EXPANSION = 3.0


def lacks() -> str | None:
    """What must be installed first."""
    from importlib.util import find_spec

    return None if find_spec("pymssql") else "SQL Server needs pymssql; `pip install pymssql`"


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The server at ``url``."""
    from dyno.targets.sqlserver.target import SqlServerTarget

    return SqlServerTarget(url, out, limits)

"""SQL Server by URL.

Each workload has a database of its own, ``dyno_tpch`` …, which Dyno creates unless an administrator
did (``docs/decisions/0029``). A login needs::

    GRANT CREATE ANY DATABASE TO [login];
    GRANT VIEW SERVER STATE TO [login];

The second one is for what Dyno reads about the server (``docs/sqlserver.md``).
"""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.target import Limits, Target, TargetUrl

SCHEMES = ("mssql", "sqlserver")
EXAMPLE = "mssql://user@host:1433/database"
EMBEDDED = False
SERVER = True
STORE = "row store"
TRIED = "Babelfish 4.3; not yet against SQL Server"
# Assumed, not measured: rows with all keys and indexes, and the log of a load.
EXPANSION = 3.0


def lacks() -> str | None:
    """What must be installed first."""
    from importlib.util import find_spec

    return None if find_spec("pymssql") else "SQL Server needs pymssql; `pip install pymssql`"


def leads_to(url: TargetUrl) -> tuple[str, ...]:
    """The server of ``url``: the databases of the workloads do not depend on that of the URL."""
    from dyno.targets.sqlserver.address import Address

    return Address.parse(url).leads_to


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The server at ``url``."""
    from dyno.targets.sqlserver.target import SqlServerTarget

    return SqlServerTarget(url, out, limits)

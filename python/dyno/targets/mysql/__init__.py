r"""MariaDB 10.6 and newer or MySQL 8.0 and newer by URL, and a private MariaDB.

What the user of a URL needs, for the workload ``tpch``::

    GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX
    ON `dyno\_tpch`.* TO 'user'@'host';
    SET GLOBAL local_infile = 1;  -- if the server does not take streamed rows

Of several databases each has a name of its own, ``dyno_tpcc``, ``dyno_tpcc_2`` …, and needs the
same.

A layout with foreign keys needs REFERENCES beside, and procedures need CREATE ROUTINE, ALTER
ROUTINE and EXECUTE. What steps take of storage is told with PROCESS only. What a query spills and
holds MySQL tells with SELECT on ``performance_schema``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dyno.contracts.target import LimitedPlace, Limits, Target, TargetUrl

SCHEMES = ("mysql", "mariadb")
EXAMPLE = "mysql://user@host/"
EMBEDDED = True
LIMITED: Mapping[str, LimitedPlace] = {"embedded": "server"}
SERVER = True
STORE = "row store"
TRIED = "MariaDB 10.11 by automated tests; MySQL 8.0.12, 8.0.31 and 9.7.4 by hand"
# Measured with TPC-H at scale 0.1, all keys and indexes: 1.9, and its log.
EXPANSION = 3.0


def lacks() -> str | None:
    """What the private server needs first; a server at a URL needs nothing."""
    from dyno.errors import TargetError
    from dyno.targets.mysql import binaries

    try:
        binaries.find()
    except TargetError as error:
        return str(error)
    return None


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The server at ``url``, or the private MariaDB with its data in ``out/engines/mysql``."""
    from dyno.targets.mysql.target import MysqlTarget

    return MysqlTarget(url, out, limits)

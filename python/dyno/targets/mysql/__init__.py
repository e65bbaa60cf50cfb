r"""MariaDB 10.6 and newer or MySQL 8.0 and newer by URL, and a private MariaDB.

The user of a URL needs, for the workload ``tpch``::

    GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX
    ON `dyno\_tpch`.* TO 'user'@'host';
    SET GLOBAL local_infile = 1;  -- if the server rejects streamed rows

With several databases, each has its own name, ``dyno_tpcc``, ``dyno_tpcc_2`` …, and needs the
same.

A layout with foreign keys also needs REFERENCES, and procedures need CREATE ROUTINE, ALTER ROUTINE
and EXECUTE. The space of load steps needs PROCESS. In MySQL, bytes spilled and memory per query
need SELECT on ``performance_schema``. Sessions of other users need PROCESS; statements and rows by
table need SELECT on a ``performance_schema`` that is on.
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
# Measured with TPC-H at scale 0.1, with all keys and indexes: 1.9, plus the log.
EXPANSION = 3.0
# InnoDB extends a file of more than 32 pages by four extents, and keeps about as much free in it.
EXTENDS = 8 << 20


def lacks() -> str | None:
    """Requirements of the private server; a server at a URL has none."""
    from dyno.errors import TargetError
    from dyno.targets.mysql import binaries

    try:
        binaries.find()
    except TargetError as error:
        return str(error)
    return None


def leads_to(url: TargetUrl) -> tuple[str, ...]:
    """The server of ``url``: the databases of the workloads do not depend on that of the URL."""
    from dyno.targets.mysql.address import Address

    return Address.parse(url).leads_to


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The server at ``url``, or the private MariaDB with its data in ``out/engines/mysql``."""
    from dyno.targets.mysql.target import MysqlTarget

    return MysqlTarget(url, out, limits)

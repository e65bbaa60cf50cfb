"""What a server has set: for the record of a run and for advice. It changes nothing.

Each group of settings is read by itself, because a user may lack the right for one, and products
that speak the protocol lack others. What cannot be read is absent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dyno.contracts.advice import Term
from dyno.errors import DynoError
from dyno.targets.sqlserver import editions, scoped
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.tuned import is_own
from dyno.targets.sqlserver.tuning import GRANT, MEMORY, TEMP_FILES
from dyno.targets.sqlserver.version import Version

MEMORY_MODEL = "sql_memory_model_desc"
INSTANT = "instant_file_initialization_enabled"
EXTENTS = "startup -E"
PERCENT_GROWTH = "files growing in percent"
SINGLE_GROWTH = "filegroups growing file by file"
TEMP_SIZES = "sizes of tempdb data files"
BUILD_MEMORY = "work memory of a query, bytes"
UNBACKED = "recovery model without a full backup"
WIDEST = "columns of the widest column store"
PLATFORM = "host_platform"
TRACE_FLAG = "trace flag {}"

KNOWN_FLAGS = (834, 1117, 1118)
"""Large pages, even growth, full extents. Others are listed if they are on."""

_CONFIGURATIONS = "SELECT name, CAST(value_in_use AS nvarchar(60)) FROM sys.configurations"
_OPTIONS = (
    "recovery_model_desc",
    "delayed_durability_desc",
    "page_verify_option_desc",
    "is_auto_shrink_on",
    "is_auto_close_on",
    "is_auto_create_stats_on",
    "is_auto_update_stats_on",
    "is_read_committed_snapshot_on",
    "is_query_store_on",
    "log_reuse_wait_desc",
    "target_recovery_time_in_seconds",
    "compatibility_level",
)
_MEASURED = (
    "recovery_model_desc",
    "delayed_durability_desc",
    "page_verify_option_desc",
    "is_read_committed_snapshot_on",
)
_UNLIMITED = "2147483647"
"""The default of the most memory, in MB."""
_LIMITED = (
    f"{MEMORY} has its default, and on Linux memory.memorylimitmb limits the server: to 80 % of "
    "the memory, unless mssql-conf sets it"
)
_SYSTEM = 4
"""The highest number of a system database: master, tempdb, model and msdb."""
_DATABASES = f"SELECT name, database_id, DB_ID(), {', '.join(_OPTIONS)} FROM sys.databases"  # noqa: S608
_QUERIES: Mapping[str, str] = {
    MEMORY_MODEL: "SELECT sql_memory_model_desc FROM sys.dm_os_sys_info",
    INSTANT: (
        "SELECT instant_file_initialization_enabled FROM sys.dm_server_services "
        "WHERE instant_file_initialization_enabled IS NOT NULL AND process_id IS NOT NULL "
        "AND servicename LIKE N'SQL Server (%'"
    ),
    PLATFORM: "SELECT host_platform FROM sys.dm_os_host_info",
    GRANT: (
        "SELECT request_max_memory_grant_percent FROM sys.dm_resource_governor_workload_groups "
        "WHERE name = N'default'"
    ),
    BUILD_MEMORY: (
        "SELECT MAX(CAST(s.max_target_memory_kb AS bigint)) * 1024 "
        "* MAX(g.request_max_memory_grant_percent) / 100 "
        "FROM sys.dm_exec_query_resource_semaphores AS s "
        "JOIN sys.dm_resource_governor_workload_groups AS g ON g.pool_id = s.pool_id "
        "WHERE g.name = N'default'"
    ),
    scoped.EFFECTIVE: scoped.GROUP,
    TEMP_SIZES: "SELECT COUNT(DISTINCT size) FROM tempdb.sys.database_files WHERE type = 0",
    TEMP_FILES: "SELECT COUNT(*) FROM tempdb.sys.database_files WHERE type = 0",
}
_OF_DATABASE: Mapping[str, str] = {
    PERCENT_GROWTH: "SELECT COUNT(*) FROM sys.database_files WHERE is_percent_growth = 1",
    SINGLE_GROWTH: (
        "SELECT COUNT(*) FROM sys.filegroups AS g WHERE g.is_autogrow_all_files = 0 AND 1 < "
        "(SELECT COUNT(*) FROM sys.database_files AS f WHERE f.data_space_id = g.data_space_id)"
    ),
    UNBACKED: (
        "SELECT d.recovery_model_desc FROM sys.databases AS d "
        "JOIN sys.database_recovery_status AS r ON r.database_id = d.database_id "
        "WHERE d.database_id = DB_ID() AND d.recovery_model_desc <> N'SIMPLE' "
        "AND r.last_log_backup_lsn IS NULL"
    ),
    WIDEST: (
        "SELECT MAX(found.columns) FROM (SELECT COUNT(*) AS columns FROM sys.indexes AS i "
        "JOIN sys.index_columns AS c ON c.object_id = i.object_id AND c.index_id = i.index_id "
        "WHERE i.type IN (5, 6) GROUP BY i.object_id, i.index_id) AS found"
    ),
}
_ARGUMENTS = (
    "SELECT CAST(value_data AS nvarchar(4000)) FROM sys.dm_server_registry "
    "WHERE value_name LIKE N'SQLArg%'"
)
"""The library gives a sql_variant as bytes."""
_FLAGS = "DBCC TRACESTATUS (-1) WITH NO_INFOMSGS"
# The collations of master and msdb may differ.
_LOG_BACKUP = (
    "SELECT CAST(DATEDIFF_BIG(second, COALESCE(MAX(b.backup_finish_date), MAX(d.create_date)), "  # noqa: S608
    "GETDATE()) AS bigint) FROM sys.databases AS d LEFT JOIN msdb.dbo.backupset AS b "
    "ON b.database_name = d.name COLLATE DATABASE_DEFAULT AND b.type = 'L' "
    f"WHERE d.database_id = DB_ID() AND d.database_id > {_SYSTEM}"
)


def settings(session: Session) -> dict[str, str]:
    """All settings that this user may read, of the instance and of the session's database."""
    found = {str(name): str(value) for name, value in _rows(session, _CONFIGURATIONS)}
    if session.version.is_babelfish:
        return found  # the rest are constants there, which set nothing
    databases = _rows(session, _DATABASES)
    found |= _options(databases)
    for place in (str(row[0]) for row in databases if is_own(str(row[0]))):
        rows = _rows(session, scoped.query(place))
        found |= {f"{place}: {name}": str(value) for name, value in rows}
    system = any(row[1] == row[2] and int(row[1]) <= _SYSTEM for row in databases)
    for name, query in {**_QUERIES, **({} if system else _OF_DATABASE)}.items():
        rows = _rows(session, query)
        if rows and rows[0][0] is not None:
            found[name] = str(rows[0][0]).strip()
    found |= dict(_startup(session))
    return found


def counters(session: Session) -> dict[str, float]:
    """``log_backup_age_s``: seconds since the last backup of the database's log, if known."""
    rows = _rows(session, _LOG_BACKUP)
    if not rows or rows[0][0] is None:
        return {}
    return {"log_backup_age_s": float(rows[0][0])}


def impossible(found: Mapping[str, str], version: Version) -> dict[Term, str]:
    """Terms that this installation cannot have; a clause for each.

    Args:
        found: What :func:`settings` returned.
        version: The server's version.
    """
    fixed: dict[Term, str] = {}
    if editions.lacks_governor(version):
        fixed["build_memory"] = f"{version.edition} has no resource governor, which sets it"
    if found.get(PLATFORM) != "Linux":
        return fixed
    if found.get(MEMORY) == _UNLIMITED:
        fixed["cache"] = _LIMITED
    return {
        **fixed,
        "locked_memory": "the right to lock pages is one of Windows; on Linux lower vm.swappiness "
        "and set memory.memorylimitmb",
        "large_extents": "-E is a start-up parameter of Windows services",
        "instant_files": "files on Linux never need to be filled with zeroes",
    }


def _options(rows: Sequence[tuple[Any, ...]]) -> dict[str, str]:
    """Options of the session's database; of Dyno's, as far as they agree, in a system database.

    Those that matter for a measurement are also listed for each of Dyno's databases.
    """
    own = [row for row in rows if is_own(str(row[0]))]
    current = [row for row in rows if row[1] == row[2]]
    chosen = own if any(int(row[1]) <= _SYSTEM for row in current) else current
    found: dict[str, str] = {}
    for number, name in enumerate(_OPTIONS, start=3):
        values = {_text(row[number]) for row in chosen if row[number] is not None}
        if len(values) == 1:
            found[name] = values.pop()
        if name in _MEASURED:
            found |= {f"{row[0]}: {name}": _text(row[number]) for row in own}
    return found


def _startup(session: Session) -> Iterator[tuple[str, str]]:
    """Start-up parameters and trace flags."""
    arguments = [str(row[0]).strip("\x00 ") for row in _rows(session, _ARGUMENTS)]
    if arguments:  # a Windows service has at least three
        yield EXTENTS, _switch("-E" in arguments)
    flags = _flags(session)
    if flags is None:
        return
    for number in sorted({*KNOWN_FLAGS, *flags}):
        yield TRACE_FLAG.format(number), _switch(number in flags)


def _flags(session: Session) -> set[int] | None:
    """The trace flags that are on for all sessions; None if they cannot be read."""
    try:
        result = session.execute(_FLAGS)
    except DynoError:
        return None
    return {int(row[0]) for row in result.rows if int(row[1]) and int(row[2])}


def _rows(session: Session, query: str) -> Sequence[tuple[Any, ...]]:
    with contextlib.suppress(DynoError):
        return session.execute(query).rows
    return ()


def _text(value: Any) -> str:
    return _switch(value) if isinstance(value, bool) else str(value)


def _switch(value: object) -> str:
    return "ON" if value else "OFF"

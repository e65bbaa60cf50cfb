"""Every statement that Dyno's observation and maintenance of SQL Server sends, with examples."""

from __future__ import annotations

from dyno.targets.sqlserver import (
    backup,
    catalog,
    columns,
    integrity,
    logchain,
    meter,
    newdatabase,
    plans,
    rebuild,
    stored_columns,
    target,
    volumes,
    whereabouts,
    work,
)
from dyno.targets.sqlserver.connection import literal
from dyno.targets.sqlserver.inside import (
    clerks,
    files,
    inspector,
    performance,
    relations,
    sessions,
    statements,
    status,
    views,
    waitstats,
)
from tests.targets.sqlserver_recorded import Recorded

_HANDLE = "(0, 0x0200a1, 0, -1), (1, 0x0200b2, 40, 118)"
_TABLE = literal("[dyno_tpcc].[dbo].[stock]")
_FILE = literal("/var/opt/mssql/data/dyno_dyno_tpcc_0123456789ab.bak")
_INDEX = rebuild.Index("dbo", "stock", "stock_pkey", 1, 8192)
_CUT = _INDEX._replace(partitioned=True)
_STORE = rebuild.Index("dbo", "order_line", "order_line_columns", 6, 8192)


def _rebuilds() -> dict[str, str]:
    online, offline = (_without(rebuild.Rebuild, online=one) for one in (True, False))
    reorganise = _without(rebuild.Reorganise, online=True)
    return {
        "reindex online": online.statements(_INDEX)[0],
        "reindex offline": offline.statements(_INDEX)[0],
        "statistics of a partitioned index": offline.statements(_CUT)[1],
        "reorganise": reorganise.statements(_INDEX)[0],
        "update statistics": reorganise.statements(_INDEX)[1],
        "reorganise a column store": reorganise.statements(_STORE)[0],
    }


def _without(task: type[rebuild.Rebuild], *, online: bool) -> rebuild.Rebuild:
    """A task without a server."""
    made = task.__new__(task)
    made._online, made._offline = online, set()
    made.session = Recorded({})  # type: ignore[assignment]
    return made


def every() -> dict[str, str]:
    """The statements by what they are for."""
    return {
        "rights": views._RIGHTS,
        "performance counters": performance.QUERY,
        "log bytes": target._LOGGED,
        "files": files.QUERY,
        "waits": waitstats.QUERY,
        "commits": status.COMMITS,
        "tempdb": status.TEMP,
        "memory clerks": clerks.QUERY,
        "requests": sessions.QUERY,
        "tasks": sessions.TASKS.format(sessions="51, 57"),
        "started": inspector.STARTED,
        "statements": statements.COUNTS,
        "texts of statements": statements.TEXTS.format(values=_HANDLE),
        "databases of statements": statements.DATABASES.format(values="(0x0600a1), (0x0600b2)"),
        "plans of statements": statements.PLANS.format(values=_HANDLE),
        "relations": relations.COUNTS,
        "uses of relations": relations.USES,
        "names of relations": relations.NAMES.format(place="[dyno_tpcc]"),
        "meter: now": meter.NOW,
        "meter: bytes read": meter.READ,
        "meter: tempdb": meter.SPACE,
        "meter: plans": meter.PLANS.format(
            since="CONVERT(datetime, N'2026-11-26T10:00:00.123', 126)"
        ),
        "meter: running": meter.RUNNING,
        "meter: batches": meter.BATCHES,
        "plan: on": f"SET {plans.ESTIMATED} ON",
        "plan: off": f"SET {plans.ESTIMATED} OFF",
        "actual plan: on": f"SET {plans.ACTUAL} ON",
        "actual plan: off": f"SET {plans.ACTUAL} OFF",
        "catalog: tables": catalog.TABLES,
        "catalog: indexes": catalog.INDEXES,
        "catalog: counters": catalog.COUNTERS,
        "columns": columns.COLUMNS,
        "keys": columns.KEYS,
        "foreign keys": columns.REFERRING,
        "histogram": columns.HISTOGRAM.format(table=_TABLE),
        "stored columns": stored_columns.COLUMNS.format(table=_TABLE),
        "changed rows": stored_columns.CHANGED.format(table=_TABLE),
        "master files": volumes.FILES,
        "volumes": volumes.VOLUMES,
        "age": whereabouts.AGE,
        "space": work.ALLOCATED,
        "check: space": integrity.SPACE.format(77),
        "check: estimate": integrity.DatabaseCheck.estimation("dyno_tpcc"),
        "check: estimate of pages": integrity.PhysicalCheck.estimation("dyno_tpcc"),
        "check": integrity.DatabaseCheck.statement("dyno_tpcc"),
        "check of pages": integrity.PhysicalCheck.statement("dyno_tpcc"),
        "indexes": rebuild.INDEXES,
        "ordered column stores": rebuild.ORDERED,
        **_rebuilds(),
        "log chain": logchain.start("dyno_tpcc"),
        "backup folder": backup.FOLDER,
        "backup size": backup.SIZE,
        "backup": backup.backup_statement("dyno_tpcc", _FILE[2:-1], compressed=True),
        "backup without compression": backup.backup_statement(
            "dyno_tpcc", _FILE[2:-1], compressed=False
        ),
        "backup header": backup.HEADER.format(_FILE),
        "backup verified": backup.VERIFY.format(_FILE),
        "backup with a bare name": backup.path_query("dyno_tpcc_f00d.bak"),
        "backup removed": backup.REMOVE.format(_FILE),
        "new database: right": newdatabase.MAY,
        "new database: exists": newdatabase.EXISTS,
        "new database: marked": newdatabase.MARKED,
        "new database": newdatabase.CREATE,
        "new database: mark": newdatabase.ADD_MARK,
        "new database: files": newdatabase.FILES,
        "new database: grow": newdatabase.GROW.format(name=literal("dyno_new_database"), size=265),
        "new database: instant files": newdatabase.INSTANT,
        "new database: drop": newdatabase.DROP,
    }

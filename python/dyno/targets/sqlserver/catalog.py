"""What advice reads of a live SQL Server: settings, tables, indexes, counters.

Tables and indexes are those of the session's database. Names of tables have three parts, as those
of relations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import cast

from dyno.contracts.advice import Catalog, Counter, IndexFacts, Part, TableFacts
from dyno.contracts.inspection import Inspection
from dyno.errors import DynoError
from dyno.targets.sqlserver import columns, readback
from dyno.targets.sqlserver.connection import Session, quoted
from dyno.targets.sqlserver.inside import statements
from dyno.targets.sqlserver.inside.files import VIEW as FILES_VIEW
from dyno.targets.sqlserver.inside.inspector import since_start
from dyno.targets.sqlserver.inside.performance import PAGE
from dyno.targets.sqlserver.inside.views import Views, definition_right, rights
from dyno.targets.sqlserver.inside.waits import TEMPDB

_MOST = 5000
_UNITS = (
    "sys.partitions AS p JOIN sys.allocation_units AS a ON a.container_id = "
    "CASE a.type WHEN 2 THEN p.partition_id ELSE p.hobt_id END"
)
TABLES_VIEW = "sys.allocation_units"
TABLES = f"""SELECT TOP ({_MOST}) s.name, t.name,
(SELECT SUM(a.total_pages) FROM {_UNITS} WHERE p.object_id = t.object_id AND p.index_id IN (0, 1)),
(SELECT SUM(p.rows) FROM sys.partitions AS p
WHERE p.object_id = t.object_id AND p.index_id IN (0, 1)),
(SELECT COUNT(*) FROM sys.stats AS x
WHERE x.object_id = t.object_id AND STATS_DATE(x.object_id, x.stats_id) IS NOT NULL),
(SELECT COUNT(*) FROM sys.indexes AS i JOIN sys.partition_schemes AS c
ON c.data_space_id = i.data_space_id WHERE i.object_id = t.object_id AND i.index_id IN (0, 1)),
(SELECT i.name FROM sys.indexes AS i WHERE i.object_id = t.object_id AND i.index_id = 1)
FROM sys.tables AS t JOIN sys.schemas AS s ON s.schema_id = t.schema_id
WHERE t.is_ms_shipped = 0 AND t.temporal_type <> 1 ORDER BY 3 DESC, 1, 2"""  # noqa: S608
INDEXES = f"""SELECT TOP ({10 * _MOST}) s.name, t.name, i.name, i.type, i.is_unique,
i.filter_definition, c.name, x.is_descending_key, x.is_included_column, u.seeks,
(SELECT SUM(a.total_pages) FROM {_UNITS}
WHERE p.object_id = i.object_id AND p.index_id = i.index_id)
FROM sys.indexes AS i JOIN sys.tables AS t ON t.object_id = i.object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id
JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
LEFT JOIN (SELECT object_id, index_id, user_seeks + user_scans + user_lookups AS seeks
FROM sys.dm_db_index_usage_stats WHERE database_id = DB_ID()) AS u
ON u.object_id = i.object_id AND u.index_id = i.index_id
WHERE i.index_id > 1 AND i.is_hypothetical = 0 AND t.is_ms_shipped = 0
AND (x.key_ordinal > 0 OR x.is_included_column = 1 OR i.type IN (5, 6))
ORDER BY s.name, t.name, i.name, x.is_included_column, x.key_ordinal, x.index_column_id"""  # noqa: S608
INDEXES_VIEW = "sys.dm_db_index_usage_stats"
_PLAIN = 2
"""The type of a nonclustered index of rows."""
_RESOURCE = 32767
"""The database of system objects, which is in no catalog."""
COUNTERS_VIEW = "sys.dm_os_sys_info"
COUNTERS = f"""SELECT DATEDIFF(second, i.sqlserver_start_time, GETDATE()), i.sql_memory_model,
w.of_log, w.of_temp, w.of_data, w.hidden FROM {COUNTERS_VIEW} AS i CROSS JOIN (SELECT
SUM(CASE WHEN v.database_id <> {TEMPDB} AND f.type = 1 THEN v.num_of_bytes_written END) AS of_log,
SUM(CASE WHEN v.database_id = {TEMPDB} THEN v.num_of_bytes_written END) AS of_temp,
SUM(CASE WHEN v.database_id <> {TEMPDB} AND f.type <> 1 THEN v.size_on_disk_bytes END) AS of_data,
COUNT(CASE WHEN v.database_id <> {TEMPDB} AND f.type IS NULL THEN 1 END) AS hidden
FROM {FILES_VIEW}(NULL, NULL) AS v LEFT JOIN sys.master_files AS f
ON f.database_id = v.database_id AND f.file_id = v.file_id
WHERE v.database_id <> {_RESOURCE}) AS w"""  # noqa: S608  (fixed text)
_LARGE_PAGES = 3


def read(session: Session) -> Catalog:
    """Reads the catalog.

    Raises:
        DynoError: If the server does not respond.
    """
    database = str(session.execute("SELECT DB_NAME()").rows[0][0])
    views = Views()
    settings = readback.settings(session)
    uses = since_start(session)
    tables = _tables(session, views, database, uses)
    indexes = _indexes(session, views, database)
    obstacles: dict[Part | Counter, str] = {}
    counters = _counters(session, views, obstacles)
    counters |= cast("dict[Counter, float]", readback.counters(session))
    parts: tuple[tuple[Part, str], ...] = (("tables", TABLES_VIEW), ("indexes", INDEXES_VIEW))
    for part, view in parts:
        if view in views.missing:
            obstacles[part] = views.missing[view]
    if not uses.statements and uses.notes:
        obstacles["uses"] = _reason(uses.notes, statements.VIEW)
    if COUNTERS_VIEW in views.missing:
        obstacles["counters"] = _reason([*rights(session), *views.notes], COUNTERS_VIEW)
    return Catalog(
        settings,
        tables,
        indexes,
        uses,
        counters,
        obstacles,
        impossible=readback.impossible(settings, session.version),
    )


def _reason(notes: Sequence[str], view: str) -> str:
    """The note with the missing right if there is one, else that on a view."""
    wanted = ("GRANT VIEW SERVER STATE", view)
    return next((note for text in wanted for note in notes if text in note), notes[0])


def _named(database: str, schema: object, table: object) -> str:
    return ".".join(quoted(str(name)) for name in (database, schema, table))


def _tables(session: Session, views: Views, database: str, uses: Inspection) -> list[TableFacts]:
    rows = views.rows(session, TABLES_VIEW, TABLES)
    if rows is None:
        return []
    try:
        keys = columns.keys(session)
        known = columns.read(session, views, columns.most_read(uses, database))
    except DynoError as error:
        if not error.is_refusal:
            raise
        keys, known = defaultdict(columns.Keys), {}
    found: list[TableFacts] = []
    for place, table, pages, count, statistics, partitioned, rows_in in rows:
        own = keys[str(place), str(table)]
        name = _named(database, place, table)
        found.append(
            TableFacts(
                name,
                int(pages or 0) * PAGE,
                int(count or 0),
                analysed=bool(statistics),
                logged=True,
                partition_of=name if partitioned else "",
                columns=known.get((str(place), str(table)), ()),
                keys=own.columns,
                primary_key=own.primary,
                foreign_keys=own.referring,
                stored=own.stored,
                rows_in=str(rows_in or ""),
            )
        )
    return found


def _indexes(session: Session, views: Views, database: str) -> list[IndexFacts]:
    listed: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    facts: dict[tuple[str, str, str], tuple[bool, str, int | None, int | None]] = {}
    for row in views.rows(session, INDEXES_VIEW, INDEXES) or ():
        place, table, index, kind, unique, condition, column, down, included, seeks, pages = row
        name = (str(place), str(table), str(index))
        text = quoted(str(column))
        listed[name].append(f"INCLUDE {text}" if included else f"{text} DESC" if down else text)
        size = None if pages is None else int(pages) * PAGE
        needed = bool(unique) or int(kind) != _PLAIN
        # An index that was never used has no row.
        facts[name] = (needed, str(condition or ""), size, int(seeks or 0))
    found: list[IndexFacts] = []
    for (place, table, index), of_it in listed.items():
        needed, condition, size, scans = facts[place, table, index]
        defined = (*of_it, f"WHERE {condition}") if condition else tuple(of_it)
        of_table = _named(database, place, table)
        found.append(IndexFacts(quoted(index), of_table, defined, needed, size, scans))
    return found


def _counters(
    session: Session, views: Views, obstacles: dict[Part | Counter, str]
) -> dict[Counter, float]:
    rows = views.rows(session, COUNTERS_VIEW, COUNTERS)
    if not rows:
        return {}
    seconds, model, *sums, hidden = rows[0]
    found: dict[Counter, float] = {"counted_s": float(seconds)}
    if model is not None:
        found["huge_pages_used"] = float(int(model) == _LARGE_PAGES)
    names: tuple[Counter, ...] = ("log_bytes", "temp_bytes", "databases_bytes")
    found |= {name: float(one) for name, one in zip(names, sums, strict=True) if one is not None}
    if hidden:
        # Sums of the files that this login may see would pass for those of all.
        for name in ("log_bytes", "databases_bytes"):
            found.pop(name, None)
            obstacles[name] = definition_right(session)
    return found

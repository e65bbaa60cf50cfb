"""Accesses to tables and indexes, as ``sys.dm_db_index_operational_stats`` counts them.

SQL Server counts neither pages nor rows read by table. A table's own reads are scans begun and
single rows looked up, of its clustered index or heap; its writes are rows. Of a column store these
counters show only rows that are not compressed yet, so its reads are the queries that used it
(``sys.dm_db_index_usage_stats``). The time of reads is that of waits for a page from storage. Names
are ``database.schema.table``, with an index's after a point. The server resets the counters of a
table that has long not been used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dyno.contracts.inspection import MOST_ROWS, RelationUse
from dyno.targets.sqlserver.connection import Session, quoted
from dyno.targets.sqlserver.inside.performance import PAGE
from dyno.targets.sqlserver.inside.views import OWN, Views

VIEW = "sys.dm_db_index_operational_stats"
COUNTS = f"""{OWN}SELECT DB_NAME(o.database_id), o.object_id, o.index_id,
SUM(o.range_scan_count + o.singleton_lookup_count),
SUM(o.leaf_insert_count + o.leaf_update_count + o.leaf_delete_count + o.leaf_ghost_count),
SUM(o.page_io_latch_wait_in_ms)
FROM {VIEW}(NULL, NULL, NULL, NULL) AS o WHERE o.database_id BETWEEN 5 AND 32766
GROUP BY o.database_id, o.object_id, o.index_id"""  # noqa: S608  (fixed text)
USES_VIEW = "sys.dm_db_index_usage_stats"
USES = f"""{OWN}SELECT DB_NAME(u.database_id), u.object_id, u.index_id,
u.user_scans + u.user_seeks + u.user_lookups
FROM {USES_VIEW} AS u WHERE u.database_id BETWEEN 5 AND 32766"""  # noqa: S608  (fixed text)
NAMES_VIEW = "sys.dm_db_partition_stats"
NAMES = f"""{OWN}SELECT o.object_id, i.index_id, s.name, o.name, i.name, i.type,
SUM(p.used_page_count)
FROM {{place}}.sys.objects AS o JOIN {{place}}.sys.schemas AS s ON s.schema_id = o.schema_id
JOIN {{place}}.sys.indexes AS i ON i.object_id = o.object_id
LEFT JOIN {{place}}.{NAMES_VIEW} AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
WHERE o.is_ms_shipped = 0
GROUP BY o.object_id, i.index_id, s.name, o.name, i.name, i.type"""  # noqa: S608
_OWN_INDEXES = (0, 1)
"""A heap and a clustered index: the table itself."""
_COLUMN_STORES = (5, 6)
"""Types of indexes."""


class Key(NamedTuple):
    """An index of a database, by its numbers."""

    database: str
    table: int
    number: int


class Counted(NamedTuple):
    """The counters of a heap or index; ``uses`` are queries, None if they cannot be read."""

    reads: int = 0
    writes: int = 0
    wait_ms: int = 0
    uses: int | None = 0


class About(NamedTuple):
    """Names of a heap or index, and its bytes."""

    schema: str
    table: str
    name: str
    bytes: int | None
    columnar: bool = False


Snapshot = Mapping[Key, Counted]


def read(session: Session, views: Views) -> Snapshot:
    """The counters of all databases of users; empty if they cannot be read.

    Raises:
        DynoError: If the server does not respond.
    """
    found = {
        _key(row): Counted(*(int(one or 0) for one in row[3:]))
        for row in views.rows(session, VIEW, COUNTS) or ()
    }
    rows = views.rows(session, USES_VIEW, USES)
    if rows is None:
        return {key: counted._replace(uses=None) for key, counted in found.items()}
    for row in rows:
        found[_key(row)] = found.get(_key(row), Counted())._replace(uses=int(row[3]))
    return found


def _key(row: Sequence[Any]) -> Key:
    return Key(str(row[0]), int(row[1]), int(row[2]))


def about(session: Session, used: Snapshot) -> dict[Key, About]:
    """The names of what was used; without those of databases that this login may not enter.

    Raises:
        DynoError: If the server does not respond.
    """
    found: dict[Key, About] = {}
    for database in sorted({key.database for key in used}):
        rows = Views().rows(session, NAMES_VIEW, NAMES.format(place=quoted(database))) or ()
        for table, index, place, name, own, kind, pages in rows:
            size = None if pages is None else int(pages) * PAGE
            key = Key(database, int(table), int(index))
            columnar = int(kind) in _COLUMN_STORES
            found[key] = About(str(place), str(name), str(own or ""), size, columnar)
    return found


def between(before: Snapshot, after: Snapshot, names: Mapping[Key, About]) -> Sequence[RelationUse]:
    """What was counted in between, with most reads and writes first.

    A relation whose counts fell began anew. One without a name is left out: it is the server's.
    """
    found: list[RelationUse] = []
    for key, now in after.items():
        known = names.get(key)
        if known is None:
            continue
        then = before.get(key, Counted())
        if then.reads > now.reads or then.writes > now.writes:
            then = Counted(uses=then.uses)
        reads: int | None = now.reads - then.reads
        writes = now.writes - then.writes
        if known.columnar:
            reads = _used(then.uses, now.uses)
        if reads == writes == 0:
            continue
        name = f"{key.database}.{known.schema}.{known.table}"
        own = key.number in _OWN_INDEXES
        found.append(
            RelationUse(
                relation=name if own else f"{name}.{known.name}",
                kind="table" if own else "index",
                of_table=name,
                logical_reads=reads,
                writes=writes,
                read_ms=float(max(0, now.wait_ms - then.wait_ms)),
                bytes=known.bytes,
            )
        )
    found.sort(key=lambda use: (use.logical_reads or 0) + (use.writes or 0), reverse=True)
    return found[:MOST_ROWS]


def _used(then: int | None, now: int | None) -> int | None:
    if then is None or now is None:
        return None
    return now - then if then <= now else now

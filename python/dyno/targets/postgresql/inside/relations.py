"""Tables and indexes of the connected database: pages read, rows changed, size.

The pages of a table include those of its large values (TOAST). A table that was dropped meanwhile
is absent. A relation whose counters were reset and have since passed their previous values shows
too little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from dyno.contracts.inspection import MOST_ROWS, RelationUse
from dyno.errors import DynoError
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import rows
from dyno.targets.postgresql.inside.snapshot import Row, grown, most

_COUNTERS = ("fetched", "hits", "writes")
_QUESTION = """SELECT c.oid::bigint AS oid, n.nspname || '.' || c.relname AS relation,
n.nspname AS schema, c.relkind = 'i' AS is_index, root_n.nspname || '.' || root.relname AS of_table,
pg_stat_get_blocks_fetched(c.oid) + coalesce(toast.fetched, 0) AS fetched,
pg_stat_get_blocks_hit(c.oid) + coalesce(toast.hits, 0) AS hits,
pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid)
    + pg_stat_get_tuples_deleted(c.oid) AS writes
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_index i ON i.indexrelid = c.oid
JOIN pg_class own ON own.oid = coalesce(i.indrelid, c.oid)
JOIN pg_class root ON root.oid = CASE WHEN own.relispartition
    THEN coalesce(pg_partition_root(own.oid)::oid, own.oid) ELSE own.oid END
JOIN pg_namespace root_n ON root_n.oid = root.relnamespace
LEFT JOIN LATERAL (
    SELECT sum(pg_stat_get_blocks_fetched(part))::bigint AS fetched,
        sum(pg_stat_get_blocks_hit(part))::bigint AS hits
    FROM (SELECT c.reltoastrelid AS part
        UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid = c.reltoastrelid) parts
) toast ON c.reltoastrelid <> 0
WHERE c.relkind IN ('r', 'm', 'i') AND c.relpersistence <> 't'
AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"""
_SIZES = """SELECT oid::bigint AS oid, CASE WHEN relkind = 'i' THEN pg_relation_size(oid)
ELSE pg_table_size(oid) END AS bytes FROM pg_class WHERE oid = ANY(%(ids)s::oid[])"""

Relations = Mapping[Any, Row]
"""The counters of all relations at one time, by object id."""


def read(session: PostgresConnection) -> Relations:
    """Reads the counters, for which no right is needed.

    Raises:
        DynoError: If the server does not respond.
    """
    return {row["oid"]: row for row in rows(session, _QUESTION)}


def since(before: Relations, after: Relations, session: PostgresConnection) -> list[RelationUse]:
    """The relations that were read or changed between two readings, with their present sizes.

    Sizes are None if another session locks one of the relations.
    """
    uses = _used(before, after)
    kept = most(uses, MOST_ROWS, "fetched", "writes")
    sizes = _sizes(kept, session)
    return [
        RelationUse(
            row["relation"],
            "index" if row["is_index"] else "table",
            row["of_table"],
            logical_reads=row["fetched"],
            physical_reads=max(0, row["fetched"] - row["hits"]),
            writes=None if row["is_index"] else row["writes"],
            bytes=sizes.get(oid),
        )
        for oid in kept
        for row in (uses[oid],)
    ]


def schemas(before: Relations, after: Relations) -> list[str]:
    """The schemas of these relations, the one with most reads first."""
    fetched = Counter[str]()
    for row in _used(before, after).values():
        fetched[row["schema"]] += row["fetched"]
    return [schema for schema, _ in fetched.most_common()]


def _used(before: Relations, after: Relations) -> dict[Any, dict[str, Any]]:
    # A concurrent reindex copies the counters of an index to its successor of the same name.
    indexes = {row["relation"]: row for row in before.values() if row["is_index"]}
    uses: dict[Any, dict[str, Any]] = {}
    for oid, row in after.items():
        known = before.get(oid) or (indexes.get(row["relation"]) if row["is_index"] else None)
        use = grown(known, row, _COUNTERS)
        if use["fetched"] or use["writes"]:
            uses[oid] = use
    return uses


def _sizes(oids: list[Any], session: PostgresConnection) -> dict[Any, int]:
    try:
        return {row["oid"]: row["bytes"] for row in rows(session, _SIZES, {"ids": oids})}
    except DynoError:
        return {}

"""Columns of PostgreSQL's tables for advice: statistics, changes, samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psycopg import sql as composed

from dyno.contracts.stored_columns import StoredColumn
from dyno.errors import TargetError
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import prepare
from dyno.targets.postgresql.inside.observer import rows as ask
from dyno.targets.postgresql.layout import COLUMNAR
from dyno.targets.sampled import as_table

if TYPE_CHECKING:
    import pyarrow as pa

_TIMEOUT_S = 10.0
_LONG = 2000
"""Mean bytes from which values are mostly moved out of the row (TOAST_TUPLE_TARGET)."""
_EXTRA = 1.5
"""More blocks than needed on average, because blocks are drawn at random."""

_COLUMNS = f"""SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
s.avg_width::float8 AS width,
nullif(CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * greatest(c.reltuples, 0)
    ELSE s.n_distinct END, 0)::float8 AS distinct,
(SELECT sum(f)::float8 FROM unnest(s.most_common_freqs) f) AS common,
EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary
    AND a.attnum = ANY(i.indkey)) AS key,
a.atttypid IN ('bytea'::regtype, 'json'::regtype, 'jsonb'::regtype, 'xml'::regtype,
    'tsvector'::regtype) OR coalesce(s.avg_width, 0) > {_LONG} AS large
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
    AND s.attname = a.attname AND NOT s.inherited
WHERE a.attrelid = to_regclass(%(table)s) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum"""  # noqa: S608  (a constant)
_CHANGED = """SELECT pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid) AS changed
FROM pg_class WHERE oid = to_regclass(%(table)s)"""
_NAMED = """SELECT n.nspname AS place, c.relname AS name, greatest(c.reltuples, 0)::float8 AS rows
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass(%(table)s)"""
_METHODS = "SELECT amname AS name FROM pg_am WHERE amtype = 't'"
_OFFERED = """SELECT name FROM pg_available_extensions
WHERE name LIKE '%columnar%' ORDER BY name"""


class PostgresColumns:
    """Implements the protocol."""

    sql = "postgres"

    def __init__(self, session: PostgresConnection) -> None:
        """Takes over the session."""
        prepare(session, _TIMEOUT_S)
        self._session = session

    def close(self) -> None:
        """Closes the session."""
        self._session.close()

    def columns(self, table: str) -> list[StoredColumn]:
        """The columns of a table (see the protocol)."""
        return [StoredColumn(**row) for row in ask(self._session, _COLUMNS, {"table": table})]

    def changed(self, table: str) -> int | None:
        """Rows updated or deleted (see the protocol)."""
        found = ask(self._session, _CHANGED, {"table": table})
        return int(found[0]["changed"]) if found else None

    def sample(self, table: str, names: Sequence[str], rows: int) -> pa.Table:
        """Rows of random blocks (see the protocol)."""
        known = ask(self._session, _NAMED, {"table": table})
        if not known:
            raise TargetError(f"The table {table} does not exist any more.", kind="database")
        (named,) = known
        share = min(100.0, max(1e-4, 100 * _EXTRA * rows / max(1.0, named["rows"])))
        question = composed.SQL(
            "SELECT {} FROM {} TABLESAMPLE SYSTEM ({}) REPEATABLE (1) LIMIT {}"
        ).format(
            composed.SQL(", ").join(map(composed.Identifier, names)),
            composed.Identifier(named["place"], named["name"]),
            composed.Literal(share),
            composed.Literal(rows),
        )
        found = ask(self._session, question.as_string(self._session.raw))
        return as_table(names, [tuple(row.values()) for row in found])

    def column_store(self) -> str:
        """What the server needs to store columns (see the protocol)."""
        if {row["name"] for row in ask(self._session, _METHODS)} & set(COLUMNAR):
            return ""
        offered = ask(self._session, _OFFERED)
        if offered:
            return (
                f"it needs an extension that is installed: CREATE EXTENSION {offered[0]['name']};"
            )
        return (
            "it needs an extension with a columnar table access method, such as Citus "
            "(citus_columnar) or Hydra (columnar), which is not installed"
        )

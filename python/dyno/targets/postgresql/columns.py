"""Columns and keys of the largest tables or of named ones, with the statistics of PostgreSQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dyno.contracts.advice import ColumnFacts
from dyno.contracts.partitioning import ColumnKind
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import rows

_MOST = 100
"""Tables, the largest first."""
_SOURCE = "the statistics of the last ANALYZE (pg_stats)"
_LARGEST = f"""(SELECT c.oid, c.reltuples, n.nspname, c.relname,
        format('%I.%I', n.nspname, c.relname) AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND NOT c.relispartition AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
    ORDER BY c.relpages DESC, 1 LIMIT {_MOST}) c"""  # noqa: S608  (fixed text)
NAMED = """(SELECT c.oid, c.reltuples, c.relkind, n.nspname, c.relname,
        quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = ANY(%(names)s::text[]) AND c.relkind IN ('r', 'm', 'p')
    AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_') c"""
"""Tables, materialised views and partitioned tables of these names, in all schemas."""

# The values of texts may be anybody's secrets, and no bounds come from them.
_COLUMNS = """SELECT c.name AS of_table, a.attname AS name, t.typname AS kind,
format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
CASE WHEN s.n_distinct >= 0 THEN s.n_distinct ELSE -s.n_distinct * greatest(c.reltuples, 0) END
    ::float8 AS distinct_values, s.null_frac::float8 AS nulls,
CASE WHEN t.typcategory IN ('D', 'N') THEN s.most_common_vals::text::text[] END AS common,
s.most_common_freqs::float8[] AS shares,
CASE WHEN t.typcategory IN ('D', 'N') THEN s.histogram_bounds::text::text[] END AS bounds
FROM {tables} JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_stats s ON s.schemaname = c.nspname AND s.tablename = c.relname
    AND s.attname = a.attname AND NOT s.inherited
ORDER BY 1, a.attnum"""

_KEYS = """SELECT c.name AS of_table, k.relname AS name,
i.indisprimary AS is_primary,
ARRAY(SELECT a.attname::text
    FROM unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY p(n, at)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = p.n ORDER BY p.at) AS columns
FROM {tables} JOIN pg_index i ON i.indrelid = c.oid AND i.indisunique AND i.indisvalid
    AND i.indpred IS NULL AND i.indexprs IS NULL
JOIN pg_class k ON k.oid = i.indexrelid ORDER BY NOT i.indisprimary, 2"""

_REFERENCES = f"""SELECT c.name AS of_table, o.conname AS name
FROM {_LARGEST} JOIN pg_constraint o ON o.confrelid = c.oid AND o.contype = 'f'
ORDER BY 2"""  # noqa: S608

_KINDS: dict[str, ColumnKind] = {
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
    "int2": "integer",
    "int4": "integer",
    "int8": "integer",
    "numeric": "decimal",
    "bpchar": "text",
    "varchar": "text",
    "text": "text",
}


def read(
    session: PostgresConnection, names: Sequence[str] | None = None
) -> dict[str, tuple[ColumnFacts, ...]]:
    """Columns by table; statistics of those that the role may read.

    Args:
        session: A session.
        names: Of the tables, without schema; None for the largest ones.

    Raises:
        DynoError: If the server does not respond.
    """
    found: defaultdict[str, list[ColumnFacts]] = defaultdict(list)
    for row in _rows(session, _COLUMNS, names):
        found[row["of_table"]].append(_column(row))
    return {name: tuple(columns) for name, columns in found.items()}


def _rows(
    session: PostgresConnection, question: str, names: Sequence[str] | None
) -> list[dict[str, Any]]:
    if names is None:
        return rows(session, question.format(tables=_LARGEST))
    return rows(session, question.format(tables=NAMED), {"names": list(names)})


def _column(row: dict[str, Any]) -> ColumnFacts:
    values: list[str] = row["common"] or []
    shares: list[float] = row["shares"] or []
    common = dict(zip(values, shares, strict=False))
    bounds = tuple(row["bounds"] or ())
    return ColumnFacts(
        str(row["name"]),
        _KINDS.get(row["kind"], "other"),
        str(row["type"]),
        bool(row["nullable"]),
        row["distinct_values"],
        row["nulls"],
        common,
        bounds,
        _SOURCE if common or bounds else "",
    )


@dataclass
class Keys:
    """Unique keys of a table: columns by name, and the name of the primary key."""

    columns: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    primary: str = ""


def keys(session: PostgresConnection, names: Sequence[str] | None = None) -> dict[str, Keys]:
    """Unique keys by table; those with a condition or an expression are left out.

    Args:
        session: A session.
        names: See :func:`read`.

    Raises:
        DynoError: If the server does not respond.
    """
    found: defaultdict[str, Keys] = defaultdict(Keys)
    for row in _rows(session, _KEYS, names):
        own, name = found[row["of_table"]], str(row["name"])
        own.columns[name] = tuple(map(str, row["columns"]))
        own.primary = name if row["is_primary"] else own.primary
    return dict(found)


def references(session: PostgresConnection) -> dict[str, tuple[str, ...]]:
    """Foreign keys of other tables that refer to a table: they need its key as it is.

    Raises:
        DynoError: If the server does not respond.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows(session, _REFERENCES):
        found[row["of_table"]].append(str(row["name"]))
    return {name: tuple(names) for name, names in found.items()}

"""What advice reads of a DuckDB file: tables with their columns and keys, and indexes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from dyno.contracts.advice import Catalog, ColumnFacts, IndexFacts, TableFacts
from dyno.contracts.partitioning import ColumnKind
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.targets.duckdb.inside import LACKS

_NO_SIZES = "DuckDB keeps no sizes of tables"
_OWN = "database_name = current_database()"
_COLUMNS = (
    "SELECT schema_name, table_name, column_name, data_type, is_nullable FROM duckdb_columns() "  # noqa: S608
    f"WHERE NOT internal AND {_OWN} ORDER BY 1, 2, column_index"
)
_TABLES = (
    "SELECT schema_name, table_name, estimated_size FROM duckdb_tables() "  # noqa: S608
    f"WHERE NOT internal AND NOT temporary AND {_OWN} ORDER BY 1, 2"
)
_KEYS = (
    "SELECT schema_name, table_name, constraint_type, constraint_column_names "  # noqa: S608
    f"FROM duckdb_constraints() WHERE {_OWN} "
    "AND constraint_type IN ('PRIMARY KEY', 'UNIQUE') ORDER BY 1, 2, 3, constraint_index"
)
_INDEXES = (
    "SELECT schema_name, table_name, index_name, is_unique, expressions "  # noqa: S608
    f"FROM duckdb_indexes() WHERE {_OWN} ORDER BY 1, 2, 3"
)
_KINDS: tuple[tuple[str, ColumnKind], ...] = (
    ("TIMESTAMP", "timestamp"),
    ("DATE", "date"),
    ("DECIMAL", "decimal"),
    ("VARCHAR", "text"),
    ("TINYINT", "integer"),
    ("SMALLINT", "integer"),
    ("INTEGER", "integer"),
    ("BIGINT", "integer"),
    ("HUGEINT", "integer"),
)


def read(settings: Mapping[str, str], session: DuckdbConnection) -> Catalog:
    """The catalog.

    Raises:
        DynoError: If it cannot be read.
    """
    indexes = [
        IndexFacts(
            _named(place, name),
            _named(place, table),
            tuple(one.strip().strip("'").strip('"') for one in str(columns).strip("[]").split(",")),
            needed=bool(unique),
        )
        for place, table, name, unique, columns in session.execute(_INDEXES).rows
    ]
    return Catalog(
        settings,
        _tables(session),
        indexes,
        obstacles={"tables": _NO_SIZES, "uses": LACKS["tables"]},
    )


def _tables(session: DuckdbConnection) -> list[TableFacts]:
    columns: defaultdict[tuple[str, str], list[ColumnFacts]] = defaultdict(list)
    for place, table, name, kind, nullable in session.execute(_COLUMNS).rows:
        facts = ColumnFacts(str(name), _kind(str(kind)), str(kind), bool(nullable))
        columns[str(place), str(table)].append(facts)
    keys: defaultdict[tuple[str, str], dict[str, tuple[str, ...]]] = defaultdict(dict)
    for place, table, kind, names in session.execute(_KEYS).rows:
        own = keys[str(place), str(table)]
        name = "PRIMARY" if kind == "PRIMARY KEY" else f"unique key {len(own) + 1}"
        own[name] = tuple(map(str, names))
    return [
        TableFacts(
            _named(place, table),
            rows=int(size),
            columns=tuple(columns[place, table]),
            keys=keys[place, table],
            primary_key="PRIMARY" if "PRIMARY" in keys[place, table] else "",
        )
        for place, table, size in session.execute(_TABLES).rows
    ]


def _kind(declared: str) -> ColumnKind:
    for word, kind in _KINDS:
        if declared.startswith(word):
            return kind
    return "other"


def _named(place: object, name: object) -> str:
    return ".".join('"' + str(one).replace('"', '""') + '"' for one in (place, name))

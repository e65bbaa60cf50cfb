"""Columns and keys of InnoDB's tables, and a sample of the values of those that are read most.

InnoDB keeps no histogram unless somebody asks for one. A sample is taken by single searches at
random values of an integer primary key, so its cost does not grow with the table.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dyno.contracts.advice import ColumnFacts
from dyno.contracts.inspection import Inspection
from dyno.contracts.partitioning import ColumnKind
from dyno.errors import DynoError
from dyno.targets.mysql.connection import MysqlConnection, quoted
from dyno.targets.mysql.inside.statements import ALIAS

Table = tuple[str, str]
"""Schema and table."""
Keys = Mapping[Table, Mapping[str, tuple[str, ...]]]

_MOST = 20_000
_SAMPLE = 1000
"""Rows of a sample, at most."""
_ASKED = 100
"""Searches of one statement."""
_SHARE = 0.1
"""Share of the reads from which a table is sampled."""
_SYSTEM = "('mysql', 'performance_schema', 'information_schema', 'sys')"
_COLUMNS = (
    "SELECT table_schema, table_name, column_name, data_type, column_type, is_nullable "  # noqa: S608
    f"FROM information_schema.columns WHERE table_schema NOT IN {_SYSTEM} "
    f"ORDER BY 1, 2, ordinal_position LIMIT {_MOST}"
)
_KEYS = (
    "SELECT table_schema, table_name, index_name, non_unique, column_name, seq_in_index, "  # noqa: S608
    f"cardinality FROM information_schema.statistics WHERE table_schema NOT IN {_SYSTEM} "
    f"ORDER BY 1, 2, index_name <> 'PRIMARY', 3, seq_in_index LIMIT {_MOST}"
)
_REFERENCES = (
    "SELECT DISTINCT table_schema, table_name, constraint_name "  # noqa: S608
    "FROM information_schema.key_column_usage WHERE referenced_table_name IS NOT NULL "
    f"AND table_schema NOT IN {_SYSTEM} ORDER BY 3"
)
_KINDS: dict[str, ColumnKind] = {
    "date": "date",
    "datetime": "timestamp",
    "tinyint": "integer",
    "smallint": "integer",
    "mediumint": "integer",
    "int": "integer",
    "bigint": "integer",
    "decimal": "decimal",
    "char": "text",
    "varchar": "text",
}
_CUT = ("date", "timestamp", "integer", "decimal")
"""Kinds whose values are kept: those of texts may be anybody's secrets, and give no bounds."""


def keys(session: MysqlConnection) -> dict[Table, dict[str, tuple[str, ...]]]:
    """Columns of unique keys by table and name, the primary key first.

    Raises:
        DynoError: If the server does not respond.
    """
    found: defaultdict[Table, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for place, table, index, not_unique, column, _, _ in session.execute(_KEYS).rows:
        if not int(not_unique):
            found[str(place), str(table)][str(index)].append(str(column))
    return {
        table: {name: tuple(columns) for name, columns in own.items()}
        for table, own in found.items()
    }


def references(session: MysqlConnection) -> dict[Table, tuple[str, ...]]:
    """Foreign keys of a table; those that refer to it are of another.

    Raises:
        DynoError: If the server does not respond.
    """
    found: defaultdict[Table, list[str]] = defaultdict(list)
    for place, table, name in session.execute(_REFERENCES).rows:
        found[str(place), str(table)].append(str(name))
    return {table: tuple(names) for table, names in found.items()}


def most_read(uses: Inspection) -> set[str]:
    """Tables with at least a tenth of the reads, as ``schema.table``."""
    reads: defaultdict[str, int] = defaultdict(int)
    for one in uses.relations:
        reads[one.of_table] += one.logical_reads or 0
    whole = sum(reads.values())
    return {name for name, count in reads.items() if whole and count >= _SHARE * whole}


def read(
    session: MysqlConnection, keys: Keys, sampled: set[str]
) -> dict[Table, tuple[ColumnFacts, ...]]:
    """Columns by table.

    Args:
        session: A session.
        keys: Unique keys.
        sampled: Tables of which values are read, as ``schema.table``.

    Raises:
        DynoError: If the server does not respond.
    """
    distinct = {
        (str(place), str(table), str(column)): float(count)
        for place, table, _, _, column, at, count in session.execute(_KEYS).rows
        if int(at) == 1 and count is not None
    }
    found: defaultdict[Table, list[ColumnFacts]] = defaultdict(list)
    for place, table, column, kind, declared, nullable in session.execute(_COLUMNS).rows:
        name = (str(place), str(table))
        found[name].append(
            ColumnFacts(
                str(column),
                _KINDS.get(str(kind).lower(), "other"),
                str(declared),
                str(nullable).upper() == "YES",
                distinct.get((*name, str(column))),
            )
        )
    return {
        table: tuple(_sampled(session, table, columns, keys))
        if ".".join(table) in sampled
        else tuple(columns)
        for table, columns in found.items()
    }


def _sampled(
    session: MysqlConnection, table: Table, columns: Sequence[ColumnFacts], keys: Keys
) -> Sequence[ColumnFacts]:
    """The columns with a sample of their values, if the primary key begins with an integer.

    The different values of the sample are the least that the column has.
    """
    primary = keys.get(table, {}).get("PRIMARY", ())
    by_name = {column.name: column for column in columns}
    wanted = [column for column in columns if column.kind != "other"]
    if not primary or not wanted or by_name[primary[0]].kind != "integer":
        return columns
    if (by_name[primary[0]].distinct or 0) < 10 * _SAMPLE:
        # The search finds the first row of each value, always with the same other columns.
        wanted = [by_name[primary[0]]]
    try:
        rows = _rows(session, table, primary[0], [column.name for column in wanted])
    except DynoError as error:
        if error.kind != "denied":
            raise
        return columns
    if not rows:
        return columns
    source = f"a sample of {len(rows):,} rows at random values of {primary[0]}"
    made: dict[str, ColumnFacts] = {}
    for at, column in enumerate(wanted):
        values = sorted(row[at] for row in rows if row[at] is not None)
        nulls = 1 - len(values) / len(rows)
        known = column.distinct if column.distinct is not None else float(len(set(values)))
        made[column.name] = replace(column, distinct=known, null_share=nulls)
        if column.kind in _CUT and len(values) > 1:
            histogram = tuple(str(value) for value in values)
            made[column.name] = replace(made[column.name], histogram=histogram, source=source)
    return [made.get(column.name, column) for column in columns]


def _rows(
    session: MysqlConnection, table: Table, key: str, columns: Sequence[str]
) -> list[tuple[Any, ...]]:
    place, by = f"{quoted(table[0])}.{quoted(table[1])}", quoted(key)
    ends = session.execute(f"SELECT min({by}) AS {ALIAS}, max({by}) FROM {place}").rows  # noqa: S608
    low, high = ends[0]
    if low is None:
        return []
    listed = ", ".join(map(quoted, columns))
    chosen = random.Random(1)  # noqa: S311  (the same rows at each call)
    found: list[tuple[Any, ...]] = []
    for _ in range(_SAMPLE // _ASKED):
        parts = " UNION ALL ".join(
            f"(SELECT {listed} FROM {place} AS {ALIAS} "  # noqa: S608
            f"WHERE {by} >= {chosen.randint(int(low), int(high))} ORDER BY {by} LIMIT 1)"
            for _ in range(_ASKED)
        )
        found += [tuple(row) for row in session.execute(parts).rows]
    return found

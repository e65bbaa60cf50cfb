"""What advice reads of a SQLite file: tables with their columns and keys, and indexes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from dyno.contracts.advice import Catalog, ColumnFacts, IndexFacts, TableFacts
from dyno.contracts.partitioning import ColumnKind
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.inside import LACKS

_NO_SIZES = "SQLite keeps no sizes and numbers of rows of tables"
_TABLES = """SELECT name FROM sqlite_schema
WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1"""
_COLUMNS = """SELECT m.name, c.name, c.type, c."notnull", c.pk FROM sqlite_schema m
JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid"""
_INDEXES = """SELECT m.name, i.name, i."unique", i.partial, c.name FROM sqlite_schema m
JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
WHERE m.type = 'table' ORDER BY m.name, i.name, c.seqno"""
_ANALYSED = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'"
_STATISTICS = "SELECT tbl, idx, stat FROM sqlite_stat1 WHERE idx IS NOT NULL"
_KINDS: tuple[tuple[str, ColumnKind], ...] = (
    ("DATETIME", "timestamp"),
    ("TIMESTAMP", "timestamp"),
    ("DATE", "date"),
    ("DEC", "decimal"),
    ("NUM", "decimal"),
    ("TEXT", "text"),
    ("CHAR", "text"),
    ("VARCHAR", "text"),
)


def read(settings: Mapping[str, str], sessions: Iterable[SqliteConnection]) -> Catalog:
    """The catalog of all files together.

    Raises:
        DynoError: If a file cannot be read.
    """
    tables: list[TableFacts] = []
    indexes: list[IndexFacts] = []
    for session in sessions:
        own = _indexes(session)
        indexes += own
        tables += _tables(session, own)
    return Catalog(
        settings,
        tables,
        indexes,
        obstacles={"tables": _NO_SIZES, "uses": LACKS["tables"]},
    )


def _tables(session: SqliteConnection, indexes: Iterable[IndexFacts]) -> list[TableFacts]:
    distinct = _distinct(session)
    columns: defaultdict[str, list[ColumnFacts]] = defaultdict(list)
    primary: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for table, name, kind, not_null, place in session.execute(_COLUMNS).rows:
        columns[table].append(
            ColumnFacts(
                str(name),
                _kind(str(kind)),
                str(kind),
                not (not_null or place),
                distinct.get((str(table), str(name))),
            )
        )
        if place:
            primary[table][int(place)] = str(name)
    unique: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for index in indexes:
        if index.needed:
            unique[index.table][index.name] = index.columns
    for table, names in primary.items():
        own = {"PRIMARY": tuple(names[at] for at in sorted(names))}
        unique[_quoted(table)] = {**own, **unique[_quoted(table)]}
    return [
        TableFacts(
            _quoted(name),
            columns=tuple(columns[name]),
            keys=unique[_quoted(name)],
            primary_key="PRIMARY" if primary[name] else "",
        )
        for (name,) in session.execute(_TABLES).rows
    ]


def _indexes(session: SqliteConnection) -> list[IndexFacts]:
    listed: defaultdict[tuple[str, str, bool], list[str]] = defaultdict(list)
    for table, name, unique, partial, column in session.execute(_INDEXES).rows:
        # Two with a condition or an expression are never taken for the same.
        text = str(column) if column is not None else f"expression of {name}"
        listed[str(table), str(name), bool(unique)].append(f"{text} of {name}" if partial else text)
    return [
        IndexFacts(_quoted(name), _quoted(table), tuple(columns), needed=unique)
        for (table, name, unique), columns in listed.items()
    ]


def _distinct(session: SqliteConnection) -> dict[tuple[str, str], float]:
    """Different values of the first column of each index, as ANALYZE counted them."""
    if not session.execute(_ANALYSED).rows[0][0]:
        return {}
    first = {
        str(index): str(column)
        for _, index, _, _, column in reversed(session.execute(_INDEXES).rows)
        if column is not None
    }
    found: dict[tuple[str, str], float] = {}
    for table, index, text in session.execute(_STATISTICS).rows:
        numbers = re.match(r"(\d{1,18}) (\d{1,18})", str(text))
        if numbers and int(numbers[2]) and str(index) in first:
            found[str(table), first[str(index)]] = int(numbers[1]) / int(numbers[2])
    return found


def _kind(declared: str) -> ColumnKind:
    text = declared.upper()
    if "INT" in text:
        return "integer"
    for word, kind in _KINDS:
        if text.startswith(word):
            return kind
    return "other"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

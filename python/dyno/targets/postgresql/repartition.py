"""The commands that turn a table of PostgreSQL into a partitioned one; Dyno never runs them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dyno.contracts.partitioning import Cut, Partitioning

_NAME = re.compile(r'(?:(.*)\.)?("(?:[^"]|"")*"|[^".]+)', re.DOTALL)
_LONGEST = 55
"""Characters of the beginning of a new name: PostgreSQL cuts names at 63 bytes."""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _beside(table: str, suffix: str, *, alone: bool = False) -> str:
    """A name beside that of a table, in its schema unless ``alone``."""
    found = _NAME.fullmatch(table)
    place, name = (found[1], found[2]) if found else (None, table)
    plain = name[1:-1].replace('""', '"') if name.startswith('"') else name
    new = _quoted(f"{plain[:_LONGEST]}{suffix}")
    return new if alone or not place else f"{place}.{new}"


def _columns(names: tuple[str, ...]) -> str:
    return ", ".join(map(_quoted, names))


def _commands(cut: Cut) -> tuple[str, ...]:
    return tuple(_lines(cut))


def _lines(cut: Cut) -> Iterator[str]:
    new, column = _beside(cut.table, "_new"), _quoted(cut.column)
    method = "RANGE" if cut.bounds else "HASH"
    yield "-- writers wait for the whole copy, which needs the space of the table once more"
    yield "BEGIN;"
    yield f"LOCK TABLE {cut.table} IN SHARE ROW EXCLUSIVE MODE;"
    yield (
        f"CREATE TABLE {new} (LIKE {cut.table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS "
        f"INCLUDING STORAGE INCLUDING COMMENTS) PARTITION BY {method} ({column});"
    )
    edges = ["MINVALUE", *cut.bounds, "MAXVALUE"]
    for number in range(cut.count):
        part = _beside(cut.table, f"_p{number + 1}")
        values = (
            f"FROM ({edges[number]}) TO ({edges[number + 1]})"
            if cut.bounds
            else f"WITH (MODULUS {cut.count}, REMAINDER {number})"
        )
        yield f"CREATE TABLE {part} PARTITION OF {new} FOR VALUES {values};"
    if cut.bounds and cut.nullable:
        yield f"CREATE TABLE {_beside(cut.table, '_null')} PARTITION OF {new} DEFAULT;"
    yield f"INSERT INTO {new} SELECT * FROM {cut.table};"  # noqa: S608  (only printed)
    for name, key in cut.keys.items():
        kind = "PRIMARY KEY" if name == cut.primary else "UNIQUE"
        yield f"ALTER TABLE {new} ADD {kind} ({_columns(key)});"
    for index in cut.indexes:
        yield _index(new, index)
    yield f"ALTER TABLE {cut.table} RENAME TO {_beside(cut.table, '_old', alone=True)};"
    found = _NAME.fullmatch(cut.table)
    yield f"ALTER TABLE {new} RENAME TO {found[2] if found else cut.table};"
    yield "COMMIT;"
    yield f"ANALYZE {cut.table};"
    yield (
        "-- rights, triggers, views, foreign keys, identity and generated columns, and unique "
        "indexes with a condition or an expression are still to be made for the new table"
    )


def _index(table: str, definition: tuple[str, ...]) -> str:
    columns = [one for one in definition if not one.startswith(("WHERE ", "USING "))]
    using = next((f" {one}" for one in definition if one.startswith("USING ")), "")
    where = next((f" {one}" for one in definition if one.startswith("WHERE ")), "")
    return f"CREATE INDEX ON {table}{using} ({', '.join(columns)}){where};"


PARTITIONING = Partitioning(
    ranges=frozenset({"date", "timestamp", "integer", "decimal"}),
    hashes=frozenset({"date", "timestamp", "integer", "decimal", "text"}),
    keys="PostgreSQL needs the partition column in each unique key",
    commands=_commands,
)

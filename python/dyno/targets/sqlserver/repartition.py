"""The commands that partition a table of SQL Server; Dyno never runs them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dyno.contracts.partitioning import Cut, Partitioning, Stored
from dyno.targets.sqlserver.connection import quoted

_TYPE = "the type of the column"


def _commands(cut: Cut) -> tuple[str, ...]:
    return tuple(_lines(cut))


def _lines(cut: Cut) -> Iterator[str]:
    if reason := _refusal(cut):
        yield f"-- no commands: {reason}"
        return
    name = re.split(r"\.", cut.table)[-1].strip("[]")
    function, scheme = quoted(f"{name}_ranges"), quoted(f"{name}_partitions")
    yield "-- the rows are rewritten: writers wait, and the table needs its space once more"
    yield (
        f"CREATE PARTITION FUNCTION {function} (/* {_TYPE} */) AS RANGE RIGHT FOR VALUES "
        f"({', '.join(cut.bounds)});"
    )
    yield f"CREATE PARTITION SCHEME {scheme} AS PARTITION {function} ALL TO ([PRIMARY]);"
    place = f"ON {scheme} ({quoted(cut.column)})"
    if not cut.rows_in:
        index = quoted(f"{name}_clustered")
        yield f"CREATE CLUSTERED INDEX {index} ON {cut.table} ({quoted(cut.column)}) {place};"
    for key in sorted(cut.keys, key=lambda key: key != cut.rows_in):
        yield from _moved(cut, key, place)
    yield (
        "-- rebuild the other indexes with DROP_EXISTING = ON and the same clause ON, so that "
        "partitions can be switched"
    )
    yield f"UPDATE STATISTICS {cut.table} WITH FULLSCAN;"


def _moved(cut: Cut, key: str, place: str) -> Iterator[str]:
    """Puts a key on the partitions. A constraint stays if its index keeps its columns."""
    stored, listed = cut.stored.get(key, Stored()), ", ".join(map(quoted, cut.keys[key]))
    how = "CLUSTERED" if stored.clustered else "NONCLUSTERED"
    if stored.constraint and key in cut.widened:
        kind = "PRIMARY KEY" if key == cut.primary else "UNIQUE"
        yield f"ALTER TABLE {cut.table} DROP CONSTRAINT {quoted(key)};"
        yield (
            f"ALTER TABLE {cut.table} ADD CONSTRAINT {quoted(key)} {kind} {how} ({listed}) {place};"
        )
        return
    yield (
        f"CREATE UNIQUE {how} INDEX {quoted(key)} ON {cut.table} ({listed}) "
        f"WITH (DROP_EXISTING = ON) {place};"
    )


def _refusal(cut: Cut) -> str:
    """Why the server would refuse the commands, and what to do; empty if it would not."""
    if cut.rows_in and cut.rows_in not in cut.keys:
        return (
            f"the rows are in the index {cut.rows_in}; recreate it on a partition scheme by "
            f"{cut.column}, WITH (DROP_EXISTING = ON)"
        )
    if special := [key for key in cut.keys if cut.stored.get(key, Stored()).special]:
        return (
            f"{special[0]} has a filter, included columns or a descending one; recreate it on a "
            f"partition scheme by {cut.column}, WITH (DROP_EXISTING = ON)"
        )
    if cut.nullable and cut.primary in cut.widened:
        return f"{cut.column} may be NULL, and {cut.primary} must include it; make it NOT NULL"
    if cut.widened and cut.foreign_keys:
        keys = ", ".join(cut.foreign_keys)
        return f"foreign keys refer to columns that are then not unique; drop them first: {keys}"
    return ""


PARTITIONING = Partitioning(
    ranges=frozenset({"date", "timestamp", "integer", "decimal"}),
    hashes=frozenset(),
    keys="SQL Server needs the partition column in each unique key of a table whose partitions are "
    "to be switched",
    commands=_commands,
)

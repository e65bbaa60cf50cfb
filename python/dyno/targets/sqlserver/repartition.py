"""The commands that partition a table of SQL Server; Dyno never runs them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dyno.contracts.partitioning import Cut, Partitioning
from dyno.targets.sqlserver.connection import quoted

_TYPE = "the type of the column"


def _commands(cut: Cut) -> tuple[str, ...]:
    return tuple(_lines(cut))


def _lines(cut: Cut) -> Iterator[str]:
    name = re.split(r"\.", cut.table)[-1].strip("[]")
    function, scheme = quoted(f"{name}_ranges"), quoted(f"{name}_partitions")
    yield "-- the rows are rewritten: writers wait, and the table needs its space once more"
    for key in cut.foreign_keys:
        yield f"ALTER TABLE {cut.table} DROP CONSTRAINT {quoted(key)};"
    yield (
        f"CREATE PARTITION FUNCTION {function} (/* {_TYPE} */) AS RANGE RIGHT FOR VALUES "
        f"({', '.join(cut.bounds)});"
    )
    yield f"CREATE PARTITION SCHEME {scheme} AS PARTITION {function} ALL TO ([PRIMARY]);"
    place = f"ON {scheme} ({quoted(cut.column)})"
    for key, columns in cut.keys.items():
        primary = key == cut.primary
        kind = "PRIMARY KEY CLUSTERED" if primary else "UNIQUE"
        listed = ", ".join(map(quoted, columns))
        yield f"ALTER TABLE {cut.table} DROP CONSTRAINT {quoted(key)};"
        yield f"ALTER TABLE {cut.table} ADD CONSTRAINT {quoted(key)} {kind} ({listed}) {place};"
    if not cut.primary:
        index = quoted(f"{name}_clustered")
        yield f"CREATE CLUSTERED INDEX {index} ON {cut.table} ({quoted(cut.column)}) {place};"
    yield (
        "-- rebuild the other indexes with DROP_EXISTING = ON and the same clause ON, so that "
        "partitions can be switched"
    )
    yield f"UPDATE STATISTICS {cut.table};"


PARTITIONING = Partitioning(
    ranges=frozenset({"date", "timestamp", "integer", "decimal"}),
    hashes=frozenset(),
    keys="SQL Server needs the partition column in each unique key of a table whose partitions are "
    "to be switched",
    commands=_commands,
)

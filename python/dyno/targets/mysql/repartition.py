"""The commands that partition a table of MariaDB or MySQL; Dyno never runs them."""

from __future__ import annotations

from collections.abc import Iterator

from dyno.contracts.partitioning import Cut, Partitioning
from dyno.targets.mysql.connection import quoted


def _commands(cut: Cut) -> tuple[str, ...]:
    return tuple(_lines(cut))


def _lines(cut: Cut) -> Iterator[str]:
    yield "-- the table is rebuilt: writers wait, and it needs its space once more"
    for name in cut.foreign_keys:
        yield f"ALTER TABLE {cut.table} DROP FOREIGN KEY {quoted(name)};"
    changes: list[str] = []
    for name, columns in cut.keys.items():
        if name not in cut.widened:
            continue
        listed = ", ".join(map(quoted, columns))
        if name == "PRIMARY":
            changes += ["DROP PRIMARY KEY", f"ADD PRIMARY KEY ({listed})"]
        else:
            changes += [f"DROP KEY {quoted(name)}", f"ADD UNIQUE KEY {quoted(name)} ({listed})"]
    if changes:
        yield f"ALTER TABLE {cut.table} {', '.join(changes)};"
    column = quoted(cut.column)
    if not cut.bounds:
        yield f"ALTER TABLE {cut.table} PARTITION BY KEY ({column}) PARTITIONS {cut.count};"
    else:
        parts = ", ".join(
            f"PARTITION p{number} VALUES LESS THAN ({bound})"
            for number, bound in enumerate((*cut.bounds, "MAXVALUE"), start=1)
        )
        yield f"ALTER TABLE {cut.table} PARTITION BY RANGE COLUMNS ({column}) ({parts});"
    yield f"ANALYZE TABLE {cut.table};"


PARTITIONING = Partitioning(
    ranges=frozenset({"date", "timestamp", "integer"}),
    hashes=frozenset({"date", "timestamp", "integer", "decimal", "text"}),
    keys="MariaDB and MySQL need the partition column in each unique key, and have no foreign keys "
    "on partitioned tables",
    commands=_commands,
)

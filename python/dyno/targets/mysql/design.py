"""Layouts in MariaDB and MySQL: partitioned tables, and the steps after a load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dyno.contracts.layout import Layout, Partition
from dyno.contracts.workload import ForeignKey, Index, Workload
from dyno.targets.mysql import ddl
from dyno.targets.mysql.connection import literal, quoted
from dyno.targets.mysql.index import Stage, Step, analyze_steps, build_steps
from dyno.targets.mysql.layout import can_have, clustered_key, loaded_key
from dyno.targets.mysql.version import Version

Folder = Callable[[str], str]
"""Returns the server's folder for tables on a volume."""


@dataclass(frozen=True)
class Present:
    """Existing objects of a database, after an interrupted load.

    Attributes:
        indexes: Table and name of each.
        keys: The primary key columns of each table.
        constraints: Table and name of each foreign key.
    """

    indexes: set[tuple[str, str]]
    keys: Mapping[str, list[str]]
    constraints: set[tuple[str, str]]


def create_table(
    place: str, table: dict[str, Any], comment: str, layout: Layout, folder: Folder
) -> str:
    """``CREATE TABLE`` with the primary key for the load, partitions and volumes."""
    design = layout.design(table["name"])
    key = loaded_key(layout, table)
    if not design.partitions:
        where = _directory(layout.volume_of(table["name"]), folder)
        return ddl.create_table(place, table, comment, key) + where
    kinds = {column["name"]: column["kind"]["type"] for column in table["columns"]}
    kind = kinds[design.partition_by or ""]
    ranges = ", ".join(
        f"PARTITION {quoted(part.name)} VALUES LESS THAN ({_end(part, kind)})"
        f"{_directory(layout.volume_of(table['name'], part), folder)}"
        for part in design.partitions
    )
    by = f" PARTITION BY RANGE COLUMNS ({quoted(design.partition_by or '')}) ({ranges})"
    return ddl.create_table(place, table, comment, key) + by


def stages(
    place: str,
    tables: Sequence[dict[str, Any]],
    workload: Workload,
    layout: Layout,
    present: Present,
    version: Version,
) -> list[Stage]:
    """All steps after a load: sort order, indexes, foreign keys, statistics."""
    found = [
        Stage(_cluster_steps(place, tables, layout, present), alone=True),
        Stage(build_steps(place, _indexes(workload, layout), present.indexes)),
        Stage(_foreign_steps(place, workload.foreign_keys, layout, present), alone=True),
        Stage(analyze_steps(place, tables, version)),
    ]
    return [stage for stage in found if stage.steps]


def _end(part: Partition, kind: str) -> str:
    """The exclusive upper bound of a partition; MariaDB requires the type of its column.

    A plain text is a valid date, but not a time with fractional seconds.
    """
    if part.high is None:
        return "MAXVALUE"
    if kind in {"int32", "int64"}:
        return str(int(part.high))
    return f"TIMESTAMP{literal(part.high)}" if kind == "timestamp" else literal(part.high)


def _directory(volume: str | None, folder: Folder) -> str:
    return "" if volume is None else f" DATA DIRECTORY = {literal(folder(volume))}"


def _indexes(workload: Workload, layout: Layout) -> list[Index]:
    """The secondary indexes of a layout; they are in the file of their table or partition."""
    found = list(workload.indexes) if layout.secondary else []
    for name, design in layout.tables.items():
        found += [Index(extra.name, name, extra.columns) for extra in design.indexes]
    return found


def _cluster_steps(
    place: str, tables: Sequence[dict[str, Any]], layout: Layout, present: Present
) -> list[Step]:
    """Rebuilds a table with another primary key; the loaded one becomes an index."""
    steps: list[Step] = []
    for table in tables:
        name, key = table["name"], clustered_key(layout, table)
        if key is None or present.keys.get(name) == key:
            continue
        # With the partition column, it enforces no more than the new primary key does.
        unique = "UNIQUE " if loaded_key(layout, table) == list(table["primary_key"]) else ""
        statement = (
            f"ALTER TABLE {quoted(place)}.{quoted(name)} DROP PRIMARY KEY, "
            f"ADD PRIMARY KEY ({_listed(key)}), "
            f"ADD {unique}INDEX {quoted(f'{name}_pkey')} ({_listed(table['primary_key'])})"
        )
        steps.append(Step(f"cluster {name}", statement, kind="cluster", table=name))
    return steps


def _foreign_steps(
    place: str, keys: Sequence[ForeignKey], layout: Layout, present: Present
) -> list[Step]:
    """Foreign keys, which the server checks; one statement per table, which it copies."""
    missing: dict[str, list[ForeignKey]] = {}
    for key in keys if layout.foreign_keys else ():
        if can_have(layout, key) and (key.table, key.name) not in present.constraints:
            missing.setdefault(key.table, []).append(key)
    steps: list[Step] = []
    for table, wanted in missing.items():
        added = ", ".join(
            f"ADD CONSTRAINT {quoted(key.name)} FOREIGN KEY ({_listed(key.columns)}) "
            f"REFERENCES {quoted(place)}.{quoted(key.other)} ({_listed(key.other_columns)})"
            for key in wanted
        )
        name = f"foreign key {', '.join(key.name for key in wanted)}"
        statement = f"ALTER TABLE {quoted(place)}.{quoted(table)} {added}"
        steps.append(Step(name, statement, kind="foreign key", table=table))
    return steps


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))

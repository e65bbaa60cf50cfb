"""The steps after a load in SQLite: sort order, keys, indexes, foreign keys, statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.contracts.layout import Layout
from dyno.contracts.workload import Index, Workload
from dyno.targets.sqlite.ddl import create_table, quoted
from dyno.targets.sqlite.index import Step
from dyno.targets.sqlite.layout import comes_sorted, needs_key, stored_by

WRITE_AHEAD = Step("write-ahead log", ("PRAGMA journal_mode = WAL",), "checkpoint")
"""Lets readers and a writer work concurrently. The file stores the mode, so a file that also holds
other tables than Dyno's does not get it.
"""

_ORDERED = "dyno_cluster_"


def steps(
    tables: Sequence[dict[str, Any]], workload: Workload, layout: Layout | None = None
) -> list[Step]:
    """All steps in order; those of the standard design without a layout.

    Indexes share the namespace of tables, so their names start with ``dyno_``. Tables are analysed
    one
    by one: a bare ``ANALYZE`` would gather statistics on tables that Dyno did not create.
    """
    found = [
        _cluster(workload, table, layout)
        for table in tables
        if stored_by(table, layout) and not comes_sorted(table, layout)
    ]
    for table in tables:
        if needs_key(table, layout):
            name, key = table["name"], table["primary_key"]
            make = _create("UNIQUE INDEX", f"{name}_pkey", name, key)
            found.append(Step(f"primary key {name}", (make,), "primary key", name))
    for index in _indexes(workload, layout):
        make = _create("INDEX", index.name, index.table, index.columns)
        found.append(Step(f"index {index.name}", (make,), "index", index.table))
    if layout is not None and layout.foreign_keys:
        for name in dict.fromkeys(key.table for key in workload.foreign_keys):
            check = f"PRAGMA foreign_key_check({quoted(name)})"
            found.append(Step(f"foreign keys {name}", (check,), "foreign key", name, empty=True))
    for table in tables:
        analyse = f"ANALYZE {quoted(table['name'])}"
        found.append(Step(f"analyse {table['name']}", (analyse,), "analyse", table["name"]))
    return found


def _indexes(workload: Workload, layout: Layout | None) -> list[Index]:
    if layout is None:
        return list(workload.indexes)
    found = list(workload.indexes) if layout.secondary else []
    for name, design in layout.tables.items():
        found += [Index(extra.name, name, extra.columns) for extra in design.indexes]
    return found


def _cluster(workload: Workload, table: dict[str, Any], layout: Layout | None) -> Step:
    """Copies the rows, sorted, into a table that replaces the original."""
    name = table["name"]
    other = f"{_ORDERED}{name}"
    order = ", ".join(map(quoted, stored_by(table, layout)))
    statements = (
        create_table(workload.name, table, layout, clustered=True, name=other),
        f"INSERT INTO {quoted(other)} SELECT * FROM {quoted(name)} ORDER BY {order}",  # noqa: S608
        f"DROP TABLE {quoted(name)}",
        f"ALTER TABLE {quoted(other)} RENAME TO {quoted(name)}",
    )
    return Step(f"cluster {name}", statements, "cluster", name)


def _create(what: str, name: str, table: str, columns: Sequence[str]) -> str:
    listed = ", ".join(map(quoted, columns))
    return f"CREATE {what} IF NOT EXISTS {quoted(f'dyno_{name}')} ON {quoted(table)} ({listed})"

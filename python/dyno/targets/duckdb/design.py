"""Keys and indexes that a layout adds to DuckDB, which has none by default."""

from __future__ import annotations

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.layout import Layout
from dyno.targets import mark
from dyno.targets.duckdb.ddl import quoted
from dyno.targets.duckdb.finish import Step


def steps(workload: str, layout: Layout | None) -> list[Step]:
    """The steps after a load. The set ``default`` is DuckDB's standard design: none.

    Keys come first, because DuckDB cannot alter a table with an index.
    """
    if layout is None:
        return []
    place = mark.schema_of(workload)
    keys: list[Step] = []
    indexes: list[Step] = []
    explicit = layout.indexes not in {"default", "none"}
    for table in schema.tables(workload):
        name = table["name"]
        if explicit and table["primary_key"]:
            columns = ", ".join(map(quoted, table["primary_key"]))
            statement = f"ALTER TABLE {quoted(place, name)} ADD PRIMARY KEY ({columns})"
            keys.append(Step(f"primary key {name}", statement, "primary key", name))
        for index in layout.design(name).indexes:
            indexes.append(_index(place, name, index.name, index.columns))
    if explicit and layout.secondary:
        indexes += [
            _index(place, index.table, index.name, index.columns)
            for index in workloads.get(workload).indexes
        ]
    return [*keys, *indexes]


def _index(place: str, table: str, name: str, columns: tuple[str, ...]) -> Step:
    listed = ", ".join(map(quoted, columns))
    statement = f"CREATE INDEX {quoted(name)} ON {quoted(place, table)} ({listed})"
    return Step(f"index {name}", statement, "index", table)

"""Layouts in SQL Server: partitioned tables, and the steps after a load.

Tables are heaps while they are loaded, so that rows may be added in any order and in parallel. Then
comes the clustered index of each, which rewrites its rows. Indexes name no place: SQL Server puts
them on the partitions or the filegroup of their table. Each step changes to the database itself, so
any session can run it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dyno.contracts.layout import Layout
from dyno.contracts.workload import ForeignKey, Index, Workload
from dyno.targets import indexer
from dyno.targets.sqlserver import ddl, partitions
from dyno.targets.sqlserver.connection import quoted
from dyno.targets.sqlserver.layout import Live, can_refer, clustered_key, widened

Step = indexer.Step[str]
Stage = indexer.Stage[str]


@dataclass(frozen=True)
class Present:
    """Existing objects of a database, after an interrupted load.

    Attributes:
        indexes: Table and name of each index and key.
        constraints: Table and name of each foreign key.
        statistics: Table and name of all statistics.
    """

    indexes: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    constraints: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    statistics: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


def create_tables(tables: Sequence[dict[str, Any]], layout: Layout, collation: str) -> list[str]:
    """Partition functions, schemes and tables, for a session in their database."""
    return [
        statement
        for table in tables
        for statement in (
            *partitions.create(table, layout, collation),
            _create_table(table, layout, collation),
        )
    ]


def stages(
    place: str,
    tables: Sequence[dict[str, Any]],
    workload: Workload,
    layout: Layout,
    present: Present,
    live: Live,
    sizes: Mapping[str, int] | None = None,
) -> list[Stage]:
    """All steps after a load: clustered indexes, others, foreign keys, statistics.

    Args:
        place: The database.
        tables: Their schemas.
        workload: The workload, with its indexes and foreign keys.
        layout: The design.
        present: What exists already.
        live: The connected server.
        sizes: Bytes of the tables, as weights of the steps.
    """
    maker = _Maker(place, layout, sizes or {}, live)
    first = [step for table in tables for step in maker.clustered(table)]
    others = [step for table in tables for step in maker.keys(table)]
    others += maker.indexes(workload)
    keys = {table["name"]: list(table["primary_key"]) for table in tables}
    foreign = [
        maker.foreign_key(key)
        for key in workload.foreign_keys
        if layout.foreign_keys
        and can_refer(layout, key, keys)
        and (key.table, key.name) not in present.constraints
    ]
    statistics = [
        step
        for table in tables
        if live.statistics
        for step in maker.statistics(table, workload, present.statistics)
    ]
    found = [
        Stage(_sorted(_missing(first, present))),
        Stage(_sorted(_missing(others, present))),
        Stage(foreign, alone=True),
        Stage(_sorted(statistics)),
    ]
    return [stage for stage in found if stage.steps]


def _create_table(table: dict[str, Any], layout: Layout, collation: str) -> str:
    text = ddl.create_table(table, collation, ()) + partitions.place(layout, table["name"])
    compression = layout.design(table["name"]).compression
    stays = not (layout.primary_keys and table["primary_key"]) and not clustered_key(layout, table)
    if compression is None or not stays:  # the clustered index compresses the rows
        return text
    return f"{text} WITH (DATA_COMPRESSION = {compression.upper()})"


def _missing(steps: Sequence[Step], present: Present) -> list[Step]:
    return [step for step in steps if not _is_present(step.table, step.relation or "", present)]


def _is_present(table: str, name: str, present: Present) -> bool:
    """Whether an index exists; Babelfish appends the table and a digest to its name."""
    if (table, name) in present.indexes:
        return True
    appended = re.compile(rf"{re.escape(name + table)}[0-9a-f]{{32}}")
    return any(of == table and appended.fullmatch(one) for of, one in present.indexes)


def _sorted(steps: Sequence[Step]) -> list[Step]:
    return sorted(steps, key=lambda step: -step.weight)


class _Maker:
    """Steps for one layout."""

    def __init__(self, place: str, layout: Layout, sizes: Mapping[str, int], live: Live) -> None:
        self._place, self._layout, self._sizes, self._live = place, layout, sizes, live

    def clustered(self, table: dict[str, Any]) -> Iterator[Step]:
        """The index that holds the rows: by a sort order, in columns, or the primary key."""
        name = table["name"]
        design = self._layout.design(name)
        by = clustered_key(self._layout, table)
        if design.form == "column":
            order = f" ORDER ({_listed(design.cluster)})" if design.cluster else ""
            statement = (
                f"CREATE CLUSTERED COLUMNSTORE INDEX {quoted(f'{name}_columns')} "
                f"ON {_named(name)}{order}"
            )
            yield self._step(f"columns {name}", statement, "cluster", name, f"{name}_columns")
        elif by is not None:
            index = f"{name}_clustered"
            statement = (
                f"CREATE CLUSTERED INDEX {quoted(index)} ON {_named(name)} "
                f"({_listed(by)}){self._with(name)}"
            )
            yield self._step(f"cluster {name}", statement, "cluster", name, index)
        elif self._layout.primary_keys and table["primary_key"]:
            yield self._key(table, "CLUSTERED")

    def keys(self, table: dict[str, Any]) -> Iterator[Step]:
        """The primary key beside another clustered index."""
        design = self._layout.design(table["name"])
        beside = design.form == "column" or clustered_key(self._layout, table) is not None
        if beside and self._layout.primary_keys and table["primary_key"]:
            yield self._key(table, "NONCLUSTERED")

    def indexes(self, workload: Workload) -> list[Step]:
        """The secondary indexes, and those of the layout."""
        wanted = list(workload.indexes) if self._layout.secondary else []
        columnar: list[Index] = []
        for name, design in self._layout.tables.items():
            for extra in design.indexes:
                index = Index(extra.name, name, extra.columns)
                (wanted if extra.form == "row" else columnar).append(index)
        return [
            *(self._index(index, "INDEX", self._with(index.table)) for index in wanted),
            *(self._index(index, "NONCLUSTERED COLUMNSTORE INDEX", "") for index in columnar),
        ]

    def foreign_key(self, key: ForeignKey) -> Step:
        """Declares a reference, which the server checks for the rows that exist."""
        statement = (
            f"ALTER TABLE {_named(key.table)} ADD CONSTRAINT {quoted(key.name)} "
            f"FOREIGN KEY ({_listed(key.columns)}) REFERENCES {_named(key.other)} "
            f"({_listed(key.other_columns)})"
        )
        name = f"foreign key {key.name}"
        return self._step(name, statement, "foreign key", key.table, key.name)

    def statistics(
        self, table: dict[str, Any], workload: Workload, present: Container[tuple[str, str]]
    ) -> Iterator[Step]:
        """Adds statistics of the columns that have none, for the first query would wait for them.

        The server reads every row for those of an index that it builds; a later update takes a
        sample. On partitions it takes a sample at once, and layouts would differ in their plans.
        """
        name = table["name"]
        indexes = self._row_indexes(table, workload)
        leading = {columns[0] for columns in indexes.values()}
        wanted = [
            column["name"]
            for column in table["columns"]
            if not ddl.column_type(column["kind"]).endswith("(max)")  # only ever read as a whole
        ]
        made = [
            f"CREATE STATISTICS {quoted(own)} ON {_named(name)} ({quoted(own)})"
            for own in wanted
            if own not in leading and (name, own) not in present
        ]
        if indexes and self._layout.design(name).partitions:
            made.append(f"UPDATE STATISTICS {_named(name)} ({_listed([*indexes])}) WITH FULLSCAN")
        if made:
            yield self._step(f"analyse {name}", "; ".join(made), "analyse", name, None)

    def _row_indexes(self, table: dict[str, Any], workload: Workload) -> dict[str, list[str]]:
        """Columns of the table's indexes of rows, by name."""
        name, by = table["name"], clustered_key(self._layout, table)
        design = self._layout.design(name)
        found = {f"{name}_clustered": by} if by is not None else {}
        if self._layout.primary_keys and table["primary_key"]:
            found[f"{name}_pkey"] = widened(self._layout, name, list(table["primary_key"]))
        if self._layout.secondary:
            found |= {one.name: list(one.columns) for one in workload.indexes if one.table == name}
        found |= {one.name: list(one.columns) for one in design.indexes if one.form == "row"}
        return found

    def _key(self, table: dict[str, Any], how: str) -> Step:
        name = table["name"]
        columns = widened(self._layout, name, list(table["primary_key"]))
        statement = (
            f"ALTER TABLE {_named(name)} ADD CONSTRAINT {quoted(f'{name}_pkey')} "
            f"PRIMARY KEY {how} ({_listed(columns)}){self._with(name)}"
        )
        return self._step(f"primary key {name}", statement, "primary key", name, f"{name}_pkey")

    def _index(self, index: Index, what: str, options: str) -> Step:
        statement = (
            f"CREATE {what} {quoted(index.name)} ON {_named(index.table)} "
            f"({_listed(index.columns)}){options}"
        )
        return self._step(f"index {index.name}", statement, "index", index.table, index.name)

    def _with(self, table: str) -> str:
        design = self._layout.design(table)
        if design.compression is None or design.form == "column":
            return ""
        return f" WITH (DATA_COMPRESSION = {design.compression.upper()})"

    def _step(self, name: str, statement: str, kind: str, table: str, relation: str | None) -> Step:
        size, batch = self._sizes.get(table, 1), f"USE {quoted(self._place)}; {statement}"
        return Step(name, batch, size, kind=kind, table=table, relation=relation)


def _named(table: str) -> str:
    return f"{quoted('dbo')}.{quoted(table)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))

"""Layouts in PostgreSQL: partitioned tables, with keys and indexes on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import sql

from dyno.contracts.layout import Layout, Partition
from dyno.contracts.workload import Index, Workload
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.index import Stage, Step, create_index, vacuum_steps
from dyno.targets.postgresql.layout import Live, can_refer, widened
from dyno.targets.postgresql.tablespaces import name_of


def create_tables(
    place: str, tables: Sequence[dict[str, Any]], layout: Layout, live: Live
) -> list[sql.Composed]:
    """``CREATE TABLE`` for all tables and their partitions."""
    return [part for table in tables for part in _create_table(place, table, layout, live)]


def stored(layout: Layout, table: str) -> list[str]:
    """The tables that hold the rows: the partitions, or the table itself."""
    return [part.name for part in layout.design(table).partitions] or [table]


def stages(
    place: str,
    tables: Sequence[dict[str, Any]],
    workload: Workload,
    layout: Layout,
    sizes: dict[str, int],
    version: int,
) -> list[Stage]:
    """All steps after the load, in order.

    The index that clusters the rows is built first. Then come the other keys and indexes on the
    tables
    that hold rows, so that creating those of partitioned tables only changes the catalogue. Then
    come
    foreign keys, and last statistics.
    """
    maker = _Maker(place, layout, sizes)
    first: list[Step] = []
    clusters: list[Step] = []
    build: list[Step] = []
    parents: list[Step] = []
    for table in tables:
        for index, steps, parent in maker.indexes(table, workload):
            clustering = index == maker.clustered_by(table, workload)
            (first if clustering else build).extend(steps)
            if clustering:
                clusters += maker.clusters(table["name"], index)
            parents += parent
    keys = {table["name"]: list(table["primary_key"]) for table in tables}
    foreign = [
        maker.foreign_key(key)
        for key in workload.foreign_keys
        if layout.foreign_keys and can_refer(layout, key, keys)
    ]
    rows = [{"name": name} for table in tables for name in stored(layout, table["name"])]
    found = [
        Stage(_sorted(first)),
        Stage(_sorted(clusters), alone=True),
        Stage(_sorted(build)),
        Stage(parents, alone=True),
        Stage(foreign, alone=True),
        Stage(vacuum_steps(place, rows, sizes)),
        Stage([maker.analyse(name, version) for name in _partitioned(layout)], alone=True),
    ]
    return [stage for stage in found if stage.steps]


def _partitioned(layout: Layout) -> list[str]:
    return [name for name, design in layout.tables.items() if design.partitions]


def _sorted(steps: list[Step]) -> list[Step]:
    return sorted(steps, key=lambda step: -step.weight)


def _create_table(
    place: str, table: dict[str, Any], layout: Layout, live: Live
) -> list[sql.Composed]:
    design = layout.design(table["name"])
    plain = ddl.create_table(place, table)
    if not design.partitions:
        return [plain + _storage(layout, table["name"], None, live)]
    by = sql.SQL(" PARTITION BY RANGE ({})").format(sql.Identifier(design.partition_by or ""))
    found = [plain + by]
    for part in design.partitions:
        head = sql.SQL("CREATE TABLE {} PARTITION OF {} FOR VALUES FROM ({}) TO ({})").format(
            sql.Identifier(place, part.name),
            sql.Identifier(place, table["name"]),
            sql.SQL("MINVALUE") if part.low is None else sql.Literal(part.low),
            sql.SQL("MAXVALUE") if part.high is None else sql.Literal(part.high),
        )
        found.append(head + _storage(layout, table["name"], part, live))
    return found


def _storage(layout: Layout, table: str, part: Partition | None, live: Live) -> sql.Composed:
    """The access method and the tablespace."""
    text = sql.SQL("").format()
    form = layout.design(table).form
    if form is not None:
        method = "heap" if form == "row" else live.column_method or ""
        text += sql.SQL(" USING {}").format(sql.Identifier(method))
    volume = layout.volume_of(table, part)
    return text if volume is None else text + _tablespace(volume)


def _tablespace(volume: str) -> sql.Composed:
    return sql.SQL(" TABLESPACE {}").format(sql.Identifier(name_of(volume)))


class _Maker:
    """Steps for one layout."""

    def __init__(self, place: str, layout: Layout, sizes: dict[str, int]) -> None:
        self._place, self._layout, self._sizes = place, layout, sizes

    def indexes(
        self, table: dict[str, Any], workload: Workload
    ) -> list[tuple[Index, list[Step], list[Step]]]:
        """All indexes of a table, their steps, and the step for a partitioned table's index."""
        name = table["name"]
        found: list[tuple[Index, list[Step], list[Step]]] = []
        if self._layout.primary_keys and table["primary_key"]:
            key = widened(self._layout, name, list(table["primary_key"]))
            index = Index(f"{name}_pkey", name, tuple(key))
            found.append((index, self._each(index, unique=True), self._parent(index, unique=True)))
        plain = list(workload.indexes) if self._layout.secondary else []
        plain += [Index(extra.name, name, extra.columns)
                  for extra in self._layout.design(name).indexes]  # fmt: skip
        by = self.clustered_by(table, workload)
        if by is not None and by not in [*plain, *(item[0] for item in found)]:
            plain.append(by)
        for index in plain:
            if index.table == name:
                steps = self._each(index, unique=False)
                found.append((index, steps, self._parent(index, unique=False)))
        return found

    def clustered_by(self, table: dict[str, Any], workload: Workload) -> Index | None:
        """The index that sorts the rows: an existing one of the table, if it fits."""
        name = table["name"]
        columns = self._layout.design(name).cluster
        if not columns:
            return None
        key = tuple(widened(self._layout, name, list(table["primary_key"])))
        if self._layout.primary_keys and columns == key:
            return Index(f"{name}_pkey", name, key)
        present = list(workload.indexes) if self._layout.secondary else []
        present += [Index(extra.name, name, extra.columns)
                    for extra in self._layout.design(name).indexes]  # fmt: skip
        fits = [index for index in present if index.table == name and index.columns == columns]
        return fits[0] if fits else Index(f"{name}_clustered", name, columns)

    def clusters(self, table: str, index: Index) -> list[Step]:
        """Rewrites the rows in the order of an index."""
        return [
            Step(
                f"cluster {stored_name}",
                sql.SQL("CLUSTER {} USING {}").format(
                    sql.Identifier(self._place, stored_name),
                    sql.Identifier(_on(index.name, table, stored_name)),
                ),
                self._sizes.get(stored_name, 0),
                kind="cluster",
                table=stored_name,
                relation=stored_name,
            )
            for stored_name in stored(self._layout, table)
        ]

    def foreign_key(self, key: Any) -> Step:
        """Declares a reference, which the server checks."""
        statement = sql.SQL(
            "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})"
        ).format(
            sql.Identifier(self._place, key.table),
            sql.Identifier(key.name),
            _columns(key.columns),
            sql.Identifier(self._place, key.other),
            _columns(key.other_columns),
        )
        size = sum(self._sizes.get(name, 0) for name in stored(self._layout, key.table))
        return Step(f"foreign key {key.name}", statement, size, kind="foreign key", table=key.table)

    def analyse(self, table: str, version: int) -> Step:
        """Gathers statistics of a partitioned table as a whole, which its partitions lack."""
        only = "ANALYZE ONLY {}" if version >= 180000 else "ANALYZE {}"
        statement = sql.SQL(only).format(sql.Identifier(self._place, table))
        return Step(f"analyse {table}", statement, 0, kind="analyse", table=table)

    def _each(self, index: Index, *, unique: bool) -> list[Step]:
        """The index on each table that holds rows."""
        parts = self._layout.design(index.table).partitions or (None,)
        steps: list[Step] = []
        for part in parts:
            table = index.table if part is None else part.name
            name = _on(index.name, index.table, table)
            statement = create_index(
                self._place, name, table, index.columns, "UNIQUE " if unique else ""
            )
            volume = self._layout.volume_of(index.table, part)
            if volume is not None:
                statement += _tablespace(volume)
            final = None
            if unique:
                final = sql.SQL("ALTER TABLE {} ADD PRIMARY KEY USING INDEX {}").format(
                    sql.Identifier(self._place, table), sql.Identifier(name)
                )
            kind = "primary key" if unique else "index"
            steps.append(
                Step(
                    f"{kind} {table if unique else name}",
                    statement,
                    self._sizes.get(table, 0),
                    final,
                    kind=kind,
                    table=table,
                    relation=name,
                )
            )
        return steps

    def _parent(self, index: Index, *, unique: bool) -> list[Step]:
        """The index of a partitioned table; it attaches the existing indexes of its partitions."""
        if not self._layout.design(index.table).partitions:
            return []
        if unique:
            statement = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} PRIMARY KEY ({})").format(
                sql.Identifier(self._place, index.table),
                sql.Identifier(index.name),
                _columns(index.columns),
            )
        else:
            statement = create_index(self._place, index.name, index.table, index.columns, "")
        kind = "primary key" if unique else "index"
        name = f"{kind} {index.table if unique else index.name}"
        return [Step(name, statement, 0, kind=kind, table=index.table)]


def _on(index: str, table: str, stored_name: str) -> str:
    """The name of an index on a partition: ``lineitem_by_part_p3``, ``lineitem_p3_pkey``."""
    if stored_name == table:
        return index
    if index == f"{table}_pkey":
        return f"{stored_name}_pkey"
    return f"{index}{stored_name.removeprefix(table)}"


def _columns(names: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))

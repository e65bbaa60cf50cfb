"""The tables that statements are resolved against: of the live catalog, or of a workload."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.advice import ColumnFacts, IndexFacts, TableFacts
from dyno.contracts.databases import schema_of
from dyno.contracts.partitioning import ColumnKind
from dyno.decide.advise.loads import Load
from dyno.decide.advise.system import System
from dyno.layouts.bounds import Bound

_KINDS: dict[str, ColumnKind] = {
    "int32": "integer",
    "int64": "integer",
    "decimal": "decimal",
    "date": "date",
    "timestamp": "timestamp",
    "char": "text",
    "varchar": "text",
}
_QUOTES = re.compile(r'["`]')


@dataclass(frozen=True)
class Known:
    """A table.

    Attributes:
        facts: Its columns and keys; the name is the engine's.
        indexes: Columns of its other indexes by name, as definitions.
        load: The data of Dyno's that it belongs to; None for a table of somebody else's.
        ranges: Least and greatest value by column, where the workload declares them.
    """

    facts: TableFacts
    indexes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    load: Load | None = None
    ranges: Mapping[str, tuple[Bound, Bound]] = field(
        default_factory=dict[str, tuple[Bound, Bound]]
    )

    @property
    def key(self) -> str:
        """Its schema and name, as counters and statements have them."""
        return key(self.facts.name)

    @property
    def short(self) -> str:
        """Its name without the schema."""
        return self.key.rpartition(".")[2]

    @property
    def columns(self) -> dict[str, ColumnFacts]:
        """Its columns by name, in lower case."""
        return {column.name.lower(): column for column in self.facts.columns}


def key(name: str) -> str:
    """A name without quotes, in lower case."""
    return _QUOTES.sub("", name).lower()


def of_system(system: System) -> dict[str, Known]:
    """The tables of a database by schema and name.

    Those of a live database have their columns from its catalog; those of a run, from the
    workload that it ran.
    """
    catalog = None if system.database is None else system.database.catalog
    if catalog is None:
        found = [one for load in system.loads for one in _declared(load)]
    else:
        found = list(_live(catalog.tables, catalog.indexes, system.loads))
    return {one.key: one for one in found}


def _live(
    tables: Iterable[TableFacts], listed: Sequence[IndexFacts], loads: Sequence[Load]
) -> Iterable[Known]:
    declared = {one.key: one for load in loads for one in _declared(load)}
    by_table: dict[str, dict[str, tuple[str, ...]]] = {}
    for index in listed:
        by_table.setdefault(index.table, {})[index.name] = index.columns
    for facts in tables:
        if not facts.columns:
            continue
        indexes = {
            name: columns
            for name, columns in by_table.get(facts.name, {}).items()
            if key(name).rpartition(".")[2] not in map(str.lower, facts.keys)
        }
        one = Known(facts, indexes)
        own = declared.get(one.key)
        same = own is not None and own.columns.keys() == one.columns.keys()
        yield replace(one, load=own.load, ranges=own.ranges) if own is not None and same else one


def _declared(load: Load) -> Iterable[Known]:
    """The tables of a workload as the generator declares them."""
    workload = workloads.known(load.database)
    if workload is None:
        return
    place = schema_of(load.database)
    for table in schema.tables(workload.name):
        columns = tuple(_column(column) for column in table["columns"])
        name = table["name"]
        facts = TableFacts(
            f"{place}.{name}",
            columns=columns,
            keys={f"{name}_pkey": tuple(table["primary_key"])} if table["primary_key"] else {},
            primary_key=f"{name}_pkey" if table["primary_key"] else "",
        )
        indexes = {one.name: one.columns for one in workload.indexes if one.table == name}
        ranges = {
            column: span(load.scale, load.days)
            for (of, column), span in workload.ranges.items()
            if of == name and load.scale is not None
        }
        yield Known(facts, indexes, load, ranges)


def _column(declared: Mapping[str, Any]) -> ColumnFacts:
    kind = declared["kind"]["type"]
    return ColumnFacts(
        declared["name"], _KINDS.get(kind, "other"), kind, nullable=bool(declared["nullable"])
    )

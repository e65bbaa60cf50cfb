"""Partition functions and schemes: the ranges of a table, and the filegroups of its partitions.

They belong to the database, not to a table, and stay when their table is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.contracts.layout import Layout
from dyno.targets.sqlserver import ddl
from dyno.targets.sqlserver.connection import literal, quoted
from dyno.targets.sqlserver.filegroups import name_of

_NUMBERS = {"int32", "int64", "decimal"}


def function_of(table: str) -> str:
    """The partition function of a table."""
    return f"{table}_ranges"


def scheme_of(table: str) -> str:
    """The partition scheme of a table."""
    return f"{table}_partitions"


def create(table: dict[str, Any], layout: Layout, collation: str) -> list[str]:
    """The partition function and scheme of a table; none if it is not partitioned.

    The bounds are those of the layout, and so is the side: with ``left``, a bound belongs to the
    partition on its left (RANGE LEFT).
    """
    name = table["name"]
    design = layout.design(name)
    if not design.partitions or design.partition_by is None:
        return []
    kinds = {column["name"]: column["kind"] for column in table["columns"]}
    kind = kinds[design.partition_by]
    column = ddl.column_type(kind, collation)
    values = ", ".join(bound(text, kind["type"]) for text in design.bounds)
    function = (
        f"CREATE PARTITION FUNCTION {quoted(function_of(name))} ({column}) "
        f"AS RANGE {design.side.upper()} FOR VALUES ({values})"
    )
    groups = [name_of(layout.volume_of(name, part)) for part in design.partitions]
    places = ", ".join(map(quoted, groups))
    to = f"ALL TO ({quoted(groups[0])})" if len(set(groups)) == 1 else f"TO ({places})"
    scheme = (
        f"CREATE PARTITION SCHEME {quoted(scheme_of(name))} "
        f"AS PARTITION {quoted(function_of(name))} {to}"
    )
    return [function, scheme]


def place(layout: Layout, table: str) -> str:
    """The clause that places a new table on its partitions or its filegroup; empty by default."""
    design = layout.design(table)
    if design.partitions and design.partition_by is not None:
        return f" ON {quoted(scheme_of(table))} ({quoted(design.partition_by)})"
    volume = layout.volume_of(table)
    return "" if volume is None else f" ON {quoted(name_of(volume))}"


def drop(tables: Sequence[str]) -> list[str]:
    """Drops the functions and schemes of tables that no longer exist, if they have any."""
    found: list[str] = []
    for name in tables:
        scheme, function = scheme_of(name), function_of(name)
        found += [
            f"IF EXISTS (SELECT 1 FROM sys.partition_schemes WHERE name = {literal(scheme)}) "  # noqa: S608  (quoted)
            f"DROP PARTITION SCHEME {quoted(scheme)}",
            f"IF EXISTS (SELECT 1 FROM sys.partition_functions WHERE name = {literal(function)}) "  # noqa: S608  (quoted)
            f"DROP PARTITION FUNCTION {quoted(function)}",
        ]
    return found


def bound(text: str, kind: str) -> str:
    """A bound as a literal that means the same in every language of a session."""
    if kind in _NUMBERS:
        return text
    return "'" + text.replace(" ", "T") + "'"

"""Form, sort order, key and partitions of a table according to a layout.

A table in columns has one sort order, which its sparse primary index follows: that of its primary
key, or that of the columns it is clustered by. A table in rows is one file without any of these.
"""

from __future__ import annotations

from typing import Any

from dyno.contracts import schema
from dyno.contracts.layout import Layout, TableDesign
from dyno.errors import UsageError

ROWS = "File(RowBinary)"
"""The table engine of rows, with its format: one file of whole rows, one after another."""


def order(table: dict[str, Any], layout: Layout | None) -> tuple[str, ...]:
    """The sort columns of a table; empty for load order."""
    if layout is None:
        return tuple(table["primary_key"])
    clustered = layout.design(table["name"]).cluster
    return clustered or (tuple(table["primary_key"]) if layout.primary_keys else ())


def in_rows(table: str, layout: Layout | None) -> bool:
    """Whether a table is stored in rows; the engine's default is columns."""
    return layout is not None and layout.design(table).form == "row"


def number(design: TableDesign, cut: str, kind: str, literals: list[str]) -> str:
    """An expression for the number of a row's partition, from 1.

    The engine stores the minimum and maximum of the column per part, whatever the expression, and
    prunes parts by them.

    Args:
        design: A design with partitions.
        cut: The quoted column.
        kind: Its type.
        literals: The lower bounds of all partitions except the first.
    """
    ends = [f"{cut} < CAST({end} AS {kind}), {at}" for at, end in enumerate(literals, start=1)]
    return f"multiIf({', '.join(ends)}, {len(design.partitions)})" if ends else "1"


def require(workload: str, layout: Layout | None) -> None:
    """Rejects tables that would need two sort orders, or one in rows.

    Raises:
        UsageError: If a table has both clustering and its primary key, or is in rows with either
            of them or with partitions.
    """
    _require_bare_rows(workload, layout)
    if layout is None or layout.indexes in {"default", "none"}:
        return
    for table in schema.tables(workload):
        key, cluster = table["primary_key"], layout.design(table["name"]).cluster
        if key and cluster and list(cluster[: len(key)]) != key:
            raise UsageError(
                f"Layout {layout.name}: {table['name']} cannot have both a cluster key "
                f"({', '.join(cluster)}) and a primary key ({', '.join(key)}): ClickHouse has "
                f"one sort order per table. Omit indexes = '{layout.indexes}'."
            )


def _require_bare_rows(workload: str, layout: Layout | None) -> None:
    if layout is None:
        return
    for table in schema.tables(workload):
        name = table["name"]
        if not in_rows(name, layout):
            continue
        design = layout.design(name)
        keyed = layout.indexes not in {"default", "none"} and table["primary_key"]
        asked = [
            word
            for word, wanted in (
                ("partitions", design.partitions),
                ("a cluster key", design.cluster),
                ("a primary key", keyed),
            )
            if wanted
        ]
        if asked:
            raise UsageError(
                f"Layout {layout.name}: {name} cannot have {asked[0]} in row form: ClickHouse "
                "stores it as one file of rows in load order. Use column form, or omit it."
            )


def notes(layout: Layout | None) -> list[str]:
    """Deviations from the layout, and the reasons."""
    if layout is None:
        return []
    found: list[str] = []
    if rows := [name for name in layout.tables if in_rows(name, layout)]:
        found.append(
            f"In rows: {', '.join(rows)}. ClickHouse has no index on them and reads each with "
            "one thread."
        )
    if layout.indexes == "keys":
        found.append(
            "In ClickHouse, a primary key is the sort order with a sparse index; it does "
            "not enforce uniqueness."
        )
    for name, design in layout.tables.items():
        if design.cluster and layout.indexes == "default":
            found.append(
                f"{name} is sorted by ({', '.join(design.cluster)}) and has no index on its "
                "primary key: ClickHouse has one sort order per table."
            )
    return found

"""The layout features that MariaDB and MySQL support, and the resulting primary keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.contracts.layout import Layout
from dyno.contracts.target import TargetUrl
from dyno.contracts.workload import ForeignKey
from dyno.errors import UsageError
from dyno.layouts.parts import LayoutParts

_COLUMN = (
    "InnoDB is a row store. MariaDB ColumnStore is a separate storage engine that "
    "Dyno does not support; use DuckDB or ClickHouse"
)
_REMOTE_DATA = (
    "a DATA DIRECTORY folder must exist on the server's machine and belong to the "
    "server's user; Dyno creates it for embedded:mysql only"
)
_REMOTE_LOG = (
    "Dyno can move the log of embedded:mysql only. Stop this server, move its "
    "ib_logfile0 (MySQL: #innodb_redo) to the volume and set "
    "innodb_log_group_home_dir to it"
)
_REMOTE_TEMP = "tmpdir is set at server start, and Dyno starts embedded:mysql only"
_NO_PREALLOCATION = "InnoDB grows table files on demand; space cannot be preallocated"
_BY_RANGE = {"int32", "int64", "date", "timestamp"}
"""Types that RANGE COLUMNS supports; decimals are not supported."""


def parts(url: TargetUrl) -> LayoutParts:
    """The layout features of this target."""
    private = url.scheme == "embedded"
    return LayoutParts(
        partitions=True,
        no_keys=True,
        primary_keys=True,
        foreign_keys=True,
        secondary=True,
        cluster=True,
        row=True,
        column=_COLUMN,
        data=True if private else _REMOTE_DATA,
        log=True if private else _REMOTE_LOG,
        temp=True if private else _REMOTE_TEMP,
        preallocate=_NO_PREALLOCATION,
        tablespaces="InnoDB general tablespaces exist in MySQL only and cannot hold partitions; "
        "use a folder",
        elsewhere=not private,
    )


def require(layout: Layout, tables: Sequence[dict[str, Any]]) -> None:
    """Rejects a layout that InnoDB does not support for these tables.

    Raises:
        UsageError: With the reason.
    """
    for table in tables:
        name, design = table["name"], layout.design(table["name"])
        columns = {column["name"]: column for column in table["columns"]}
        if design.partition_by is not None:
            kind = columns[design.partition_by]["kind"]["type"]
            if kind not in _BY_RANGE:
                raise UsageError(
                    f"Layout {layout.name}: {name} cannot be partitioned by {design.partition_by}: "
                    f"MariaDB and MySQL support ranges of integers and dates, not of {kind}."
                )
        if not design.cluster:
            continue
        listed = ", ".join(design.cluster)
        why = ""
        if not layout.primary_keys:
            why = f"and indexes = '{layout.indexes}' creates none"
        elif not table["primary_key"]:
            why = "and this table has none"
        elif nullable := [column for column in design.cluster if columns[column]["nullable"]]:
            why = f"which cannot include {nullable[0]}, a nullable column"
        if why:
            raise UsageError(
                f"Layout {layout.name}: {name} cannot be clustered by {listed}: InnoDB sorts "
                f"rows by primary key only, {why}."
            )


def loaded_key(layout: Layout, table: dict[str, Any]) -> list[str]:
    """The primary key of a table during the load; empty for none.

    It includes the partition column, as MariaDB and MySQL require.
    """
    if not layout.primary_keys:
        return []
    key, by = list(table["primary_key"]), layout.design(table["name"]).partition_by
    return [*key, by] if key and by is not None and by not in key else key


def clustered_key(layout: Layout, table: dict[str, Any]) -> list[str] | None:
    """The primary key for the layout's sort order; None if the loaded one is sufficient."""
    columns, key = list(layout.design(table["name"]).cluster), loaded_key(layout, table)
    if not columns or key[: len(columns)] == columns:
        return None
    return [*columns, *(name for name in key if name not in columns)]


def can_have(layout: Layout, key: ForeignKey) -> bool:
    """Whether a foreign key is possible: InnoDB does not support them on partitioned tables."""
    return not (layout.design(key.table).partitions or layout.design(key.other).partitions)


def notes(
    layout: Layout, tables: Sequence[dict[str, Any]], foreign_keys: Sequence[ForeignKey]
) -> list[str]:
    """Deviations from the layout, and the reasons."""
    found: list[str] = []
    if not layout.primary_keys:
        found.append(
            "Without a primary key, InnoDB keeps rows in insert order, by a hidden row id."
        )
    for table in tables:
        found += _key_notes(layout, table)
    if layout.foreign_keys:
        found += [
            f"No foreign key from {key.table} to {key.other}: InnoDB does not support them "
            "on partitioned tables."
            for key in foreign_keys
            if not can_have(layout, key)
        ]
        if any(can_have(layout, key) for key in foreign_keys):
            found.append("InnoDB created an index for each foreign key without one.")
    return found


def _key_notes(layout: Layout, table: dict[str, Any]) -> list[str]:
    name, own = table["name"], list(table["primary_key"])
    design, loaded = layout.design(name), loaded_key(layout, table)
    clustered = clustered_key(layout, table)
    alone = f"({', '.join(own)})"
    if clustered is not None:
        text = f"The primary key of {name} is ({', '.join(clustered)}), InnoDB's sort order"
        if loaded == own:
            return [f"{text}; the unique index {name}_pkey enforces {alone}."]
        return [f"{text}; no unique index can enforce {alone} without the partition column."]
    found: list[str] = []
    if design.cluster:
        listed = ", ".join(design.cluster)
        found.append(f"The primary key of {name} already sorts its rows by {listed}.")
    if loaded and loaded != own:
        found.append(
            f"The primary key of {name} is ({', '.join(loaded)}): it must include the "
            f"partition column, so it no longer enforces {alone} alone."
        )
    return found

"""The layout features that SQL Server supports, and what they require from the connected server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dyno.contracts.layout import Layout, TableDesign
from dyno.contracts.target import TargetUrl
from dyno.contracts.workload import ForeignKey
from dyno.errors import UsageError
from dyno.layouts.parts import LayoutParts, needed
from dyno.targets.sqlserver.version import Version

ORDERED = (16,)
"""The first major version with ordered column store indexes: SQL Server 2022."""

_IGNORED = "Babelfish accepts {} and ignores it"
_NO_FILES = "Babelfish stores its tables in PostgreSQL's folder; it has no filegroups and files"
_NO_COLUMNS = "Babelfish has no column store indexes"
_BABELFISH = {
    "cluster": _IGNORED.format("CREATE CLUSTERED INDEX"),
    "column": _NO_COLUMNS,
    "column_index": _NO_COLUMNS,
    "compression": _IGNORED.format("DATA_COMPRESSION"),
    "data": _NO_FILES,
    "log": _NO_FILES,
    "temp": _NO_FILES,
    "preallocate": _NO_FILES,
    "tablespaces": _NO_FILES,
}
_NO_LEFT = (
    "Babelfish has no partition functions with RANGE LEFT; set side = 'right' in a layout of your "
    "own"
)
_CLOUD = "Azure places the files of a database itself"
_PLACED = ("data", "log", "temp", "preallocate", "tablespaces")


def parts(url: TargetUrl) -> LayoutParts:  # noqa: ARG001  (the server is known once it is connected)
    """The layout features of this target."""
    return LayoutParts(
        partitions=True,
        no_keys=True,
        primary_keys=True,
        foreign_keys=True,
        secondary=True,
        cluster=True,
        row=True,
        column=True,
        column_index=True,
        compression=True,
        data=True,
        log=True,
        temp=True,
        preallocate=True,
        tablespaces=True,
        elsewhere=True,
    )


@dataclass(frozen=True)
class Live:
    """What the statements of a layout depend on.

    Attributes:
        version: The connected server.
    """

    version: Version

    @property
    def statistics(self) -> bool:
        """Whether the server has CREATE STATISTICS and UPDATE STATISTICS."""
        return not self.version.is_babelfish


def require(version: Version, layout: Layout) -> Live:
    """Rejects a layout that the connected server does not support.

    Raises:
        UsageError: With the reason.
    """
    lacks: dict[str, str] = {}
    if version.is_babelfish:
        lacks = _BABELFISH
    elif version.is_cloud:
        lacks = dict.fromkeys(_PLACED, _CLOUD)
    for part, asked in needed(layout):
        if part in lacks:
            raise _refused(layout, asked, lacks[part])
    for name, design in layout.tables.items():
        if version.is_babelfish and design.partitions and design.side == "left":
            raise _refused(layout, f"{name} is partitioned", _NO_LEFT)
        for problem in _contradictions(design, version):
            raise _refused(layout, f"tables.{name}", problem)
    return Live(version)


def widened(layout: Layout, table: str, key: list[str]) -> list[str]:
    """The primary key of a table, including the partition column.

    SQL Server places an index on the partitions of its table only if a unique one includes the
    partition column, and switches partitions only if all indexes are placed so.
    """
    by = layout.design(table).partition_by
    return key if by is None or by in key else [*key, by]


def clustered_key(layout: Layout, table: dict[str, Any]) -> list[str] | None:
    """The columns of the clustered index, if it is not the primary key's; else None."""
    columns = list(layout.design(table["name"]).cluster)
    if not columns or layout.design(table["name"]).form == "column":
        return None
    own = list(table["primary_key"])
    key = widened(layout, table["name"], own) if own and layout.primary_keys else []
    return None if key[: len(columns)] == columns else columns


def can_refer(layout: Layout, key: ForeignKey, primary_keys: dict[str, list[str]]) -> bool:
    """Whether the referenced columns are still a key of their table in the layout."""
    other = primary_keys[key.other]
    return set(widened(layout, key.other, other)) == set(key.other_columns)


def notes(
    layout: Layout,
    tables: Sequence[dict[str, Any]],
    foreign_keys: Sequence[ForeignKey],
    live: Live,
) -> list[str]:
    """Deviations from the layout, and the reasons."""
    keys = {table["name"]: list(table["primary_key"]) for table in tables}
    found = list(_key_notes(layout, keys))
    if layout.foreign_keys:
        found += [
            f"No foreign key from {key.table} to {key.other}: ({', '.join(key.other_columns)}) is "
            "not unique by itself when that table is partitioned by another column."
            for key in foreign_keys
            if not can_refer(layout, key, keys)
        ]
    if live.version.is_babelfish:
        found.append(
            "Babelfish stores rows in insert order; its clustered indexes are plain B-trees."
        )
    return found


def _key_notes(layout: Layout, keys: dict[str, list[str]]) -> Iterator[str]:
    for name, design in layout.tables.items():
        by, key = design.partition_by, keys[name]
        if layout.primary_keys and by is not None and key and by not in key:
            yield (
                f"The primary key of {name} is ({', '.join([*key, by])}): an index on the "
                "partitions of its table must include the partition column, so it no longer "
                f"enforces ({', '.join(key)}) alone."
            )
        if design.form == "column" and layout.primary_keys and key:
            yield f"The primary key of {name} is a nonclustered index beside the column store."
        if design.form == "column" and design.cluster:
            yield (
                f"The column store of {name} may be only partly ordered by "
                f"({', '.join(design.cluster)}): its build sorts what each thread has in memory. "
                "Load with --set parallelism=1 and enough memory for a full order."
            )


def _contradictions(design: TableDesign, version: Version) -> Iterator[str]:
    columns = [index.name for index in design.indexes if index.form == "column"]
    if design.form == "column":
        if design.compression is not None:
            yield "a column store is always compressed; omit compression"
        if columns:
            yield f"the table is a column store; omit the column store index {columns[0]}"
        if design.cluster and not version.is_cloud and version.number[:1] < ORDERED:
            yield f"column stores are ordered from SQL Server 2022 on; this is {version}"
    if len(columns) > 1:
        yield f"a table has one column store index; omit {columns[1]}"


def _refused(layout: Layout, asked: str, reason: str) -> UsageError:
    return UsageError(f"Layout {layout.name} ({asked}): {reason}.")

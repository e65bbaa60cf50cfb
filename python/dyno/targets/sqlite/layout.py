"""The layout features that SQLite supports, and how tables are stored."""

from __future__ import annotations

from typing import Any

from dyno.contracts.layout import Layout
from dyno.contracts.target import TargetUrl
from dyno.errors import UsageError
from dyno.layouts.parts import LayoutParts


def parts(url: TargetUrl) -> LayoutParts:  # noqa: ARG001  (the same for every file)
    """The layout features of this target."""
    return LayoutParts(
        partitions="SQLite has no table partitions; `clustered` keeps a month or a year of rows "
        "together",
        no_keys=True,
        primary_keys=True,
        foreign_keys=True,
        secondary=True,
        cluster=True,
        row=True,
        column="SQLite is a row store; it has no column format",
        data="a SQLite database is one file, set in the target URL: sqlite:///VOLUME/file.sqlite",
        log="SQLite's log is next to its file, which is set in the target URL",
        temp="a SQLite file does not store where its sorts spill; use --set "
        "temp_path=FOLDER for load and run",
        preallocate="SQLite grows its file on demand",
    )


def is_rowid(table: dict[str, Any]) -> bool:
    """Whether a table's primary key is a single integer, which can be its rowid."""
    kinds = {column["name"]: column["kind"]["type"] for column in table["columns"]}
    return [kinds[name] for name in table["primary_key"]] in (["int32"], ["int64"])


def has_rowid_key(table: dict[str, Any], layout: Layout | None) -> bool:
    """Whether a table has an ``INTEGER PRIMARY KEY``: unless the layout excludes it."""
    if layout is not None and (not layout.primary_keys or stored_by(table, layout)):
        return False
    return is_rowid(table)


def stored_by(table: dict[str, Any], layout: Layout | None) -> tuple[str, ...]:
    """The key columns of a ``WITHOUT ROWID`` table; empty for a table with a rowid.

    They are the clustering columns, plus the rest of the primary key to make them unique.
    """
    cluster = () if layout is None else layout.design(table["name"]).cluster
    key = tuple(table["primary_key"])
    if not cluster or (is_rowid(table) and cluster == key):
        return ()
    return (*cluster, *(name for name in key if name not in cluster))


def comes_sorted(table: dict[str, Any], layout: Layout | None) -> bool:
    """Whether rows arrive in storage order, so that they need no sort."""
    by = stored_by(table, layout)
    return by != () and by == tuple(table["primary_key"])


def needs_key(table: dict[str, Any], layout: Layout | None) -> bool:
    """Whether the primary key needs a separate index."""
    if not table["primary_key"] or (layout is not None and not layout.primary_keys):
        return False
    if has_rowid_key(table, layout):
        return False
    return set(stored_by(table, layout)) != set(table["primary_key"])


def require(layout: Layout | None, tables: list[dict[str, Any]]) -> None:
    """Rejects columns that a ``WITHOUT ROWID`` table cannot be stored by.

    Raises:
        UsageError: With the reason.
    """
    for table in tables:
        by = stored_by(table, layout)
        if layout is None or not by:
            continue
        asked = f"Layout {layout.name}: {table['name']} cannot be clustered in SQLite"
        if not table["primary_key"]:
            raise UsageError(f"{asked}: without a primary key, equal rows cannot be distinguished.")
        if not layout.primary_keys:
            raise UsageError(f"{asked} without keys: WITHOUT ROWID needs a key.")
        empty = [column["name"] for column in table["columns"] if column["nullable"]]
        for name in by:
            if name in empty:
                raise UsageError(f"{asked} by {name}, a nullable column; use another column.")

"""What of a layout SQLite can have, and how a table is stored in it."""

from __future__ import annotations

from typing import Any

from dyno.contracts.layout import Layout
from dyno.contracts.target import TargetUrl
from dyno.errors import UsageError
from dyno.layouts.parts import LayoutParts


def parts(url: TargetUrl) -> LayoutParts:  # noqa: ARG001  (the same for every file)
    """What this target can do of a layout."""
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
    """Whether a table can be stored by its primary key as it is, which is one integer."""
    kinds = {column["name"]: column["kind"]["type"] for column in table["columns"]}
    return [kinds[name] for name in table["primary_key"]] in (["int32"], ["int64"])


def has_rowid_key(table: dict[str, Any], layout: Layout | None) -> bool:
    """Whether a table is ``INTEGER PRIMARY KEY``: unless keys or their order are not wanted."""
    if layout is not None and (not layout.primary_keys or stored_by(table, layout)):
        return False
    return is_rowid(table)


def stored_by(table: dict[str, Any], layout: Layout | None) -> tuple[str, ...]:
    """The columns that a ``WITHOUT ROWID`` table is stored by; none for one with a rowid.

    They are those that it is clustered by, and what makes them unique: the rest of its primary key.
    """
    cluster = () if layout is None else layout.design(table["name"]).cluster
    key = tuple(table["primary_key"])
    if not cluster or (is_rowid(table) and cluster == key):
        return ()
    return (*cluster, *(name for name in key if name not in cluster))


def comes_sorted(table: dict[str, Any], layout: Layout | None) -> bool:
    """Whether rows come in the order that they are stored by: then they go where they stay."""
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
    """Refuses what a ``WITHOUT ROWID`` table cannot be stored by.

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

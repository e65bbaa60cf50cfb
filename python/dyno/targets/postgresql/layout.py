"""The layout features that PostgreSQL supports, and what they require from a server."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from dyno.contracts.layout import TABLESPACE, Layout
from dyno.contracts.target import TargetUrl
from dyno.contracts.workload import ForeignKey
from dyno.errors import UsageError, nearest
from dyno.layouts.parts import LayoutParts
from dyno.targets.postgresql.connection import PostgresConnection

COLUMNAR = ("columnar", "pgcolumnar")
"""Columnar table access methods, by the names of their extensions."""

_REMOTE_LOG = (
    "Dyno can move the log of the private server only. Stop this server, move its "
    "pg_wal to the volume and replace it with a symbolic link, or create the "
    "cluster with initdb --waldir"
)
_NO_PREALLOCATION = "PostgreSQL grows table files on demand; space cannot be preallocated"


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
        column=True,
        data=True,
        log=True if private else _REMOTE_LOG,
        temp=True,
        preallocate=_NO_PREALLOCATION,
        tablespaces=True,
        elsewhere=not private,
    )


@dataclass(frozen=True)
class Live:
    """The features of a server that a layout may need.

    Attributes:
        column_method: The columnar table access method; None if the layout has none.
        superuser: Whether the user may create tablespaces.
    """

    column_method: str | None
    superuser: bool


def require(session: PostgresConnection, layout: Layout) -> Live:
    """Rejects a layout that this server, or this user on it, does not support.

    Raises:
        UsageError: With the reason, and the statement that helps.
    """
    forms = [name for name, design in layout.tables.items() if design.form == "column"]
    method = _column_method(session, layout, forms) if forms else None
    query = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
    superuser = bool(session.execute(query).rows[0][0])
    for volume in (*layout.data_volumes(), layout.temp):
        if volume is not None and volume.startswith(TABLESPACE):
            _require_tablespace(session, layout, volume.removeprefix(TABLESPACE))
    return Live(method, superuser)


def widened(layout: Layout, table: str, key: list[str]) -> list[str]:
    """The primary key of a table, including the partition column, as PostgreSQL requires."""
    by = layout.design(table).partition_by
    return key if by is None or by in key else [*key, by]


def can_refer(layout: Layout, key: ForeignKey, primary_keys: dict[str, list[str]]) -> bool:
    """Whether the referenced columns are still a key of their table in the layout."""
    other = primary_keys[key.other]
    return set(widened(layout, key.other, other)) == set(key.other_columns)


def notes(
    layout: Layout, primary_keys: dict[str, list[str]], foreign_keys: tuple[ForeignKey, ...]
) -> list[str]:
    """Deviations from the layout, and the reasons."""
    found: list[str] = []
    for name, design in layout.tables.items():
        by, key = design.partition_by, primary_keys[name]
        if layout.primary_keys and by is not None and key and by not in key:
            found.append(
                f"The primary key of {name} is ({', '.join([*key, by])}): PostgreSQL requires "
                f"the partition column in it, so it no longer enforces ({', '.join(key)}) alone."
            )
    if layout.foreign_keys:
        found += [
            f"No foreign key from {key.table} to {key.other}: "
            f"({', '.join(key.other_columns)}) is not unique by itself when that table is "
            "partitioned by another column."
            for key in foreign_keys
            if not can_refer(layout, key, primary_keys)
        ]
    return found


def _column_method(session: PostgresConnection, layout: Layout, tables: list[str]) -> str:
    present = [str(row[0]) for row in session.execute(
        "SELECT amname FROM pg_am WHERE amtype = 't' ORDER BY amname"
    ).rows]  # fmt: skip
    found = next((name for name in COLUMNAR if name in present), None)
    if found is not None:
        clustered = [name for name in tables if layout.design(name).cluster]
        if clustered:
            raise UsageError(
                f"Layout {layout.name}: {clustered[0]} cannot be both columnar and clustered; "
                "PostgreSQL clusters heap tables only."
            )
        return found
    offered = session.execute(
        "SELECT name FROM pg_available_extensions WHERE name LIKE '%columnar%' ORDER BY name"
    ).rows
    help_ = (
        f"The extension {offered[0][0]} is available; run: CREATE EXTENSION {offered[0][0]};"
        if offered
        else "Install an extension with one, such as Citus or Hydra, or use another layout."
    )
    raise UsageError(
        f"Layout {layout.name} (columnar table {tables[0]}): this server has no "
        f"columnar table access method (it has: {', '.join(present)}). {help_}"
    )


def _require_tablespace(session: PostgresConnection, layout: Layout, name: str) -> None:
    rows = session.execute(
        "SELECT spcname, has_tablespace_privilege(oid, 'CREATE'), current_user FROM pg_tablespace"
    ).rows
    known = {str(row[0]): bool(row[1]) for row in rows}
    if name not in known:
        raise UsageError(
            f"Layout {layout.name}: the server has no tablespace '{name}'. {nearest(name, known)}"
        )
    if not known[name]:
        grant = sql.SQL("GRANT CREATE ON TABLESPACE {} TO {};").format(
            sql.Identifier(name), sql.Identifier(str(rows[0][2]))
        )
        raise UsageError(
            f"Layout {layout.name}: the user {rows[0][2]} may not use the tablespace "
            f"{name}. Run: {_text(session, grant)}"
        )


def _text(session: PostgresConnection, statement: sql.Composed) -> str:
    return statement.as_string(session.raw)

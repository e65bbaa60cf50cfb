"""Stores the full layout of the data, which is too long for one extended property.

Its pieces are properties of the workload's first table, so they go when the table goes.
"""

from __future__ import annotations

import hashlib

from dyno.errors import TargetError
from dyno.targets.sqlserver.connection import Session, literal

PREFIX = "dyno_layout_"
PIECE = 3500
"""Characters of a piece: a property has at most 7,500 bytes."""


def put(session: Session, table: str, layout: str) -> str:
    """Stores a layout on a table; returns the reference for the mark."""
    from dyno.targets.sqlserver.ddl import SCHEMA, marking

    for name in _pieces(session, table):
        session.execute(
            f"EXEC sys.sp_dropextendedproperty @name = {literal(name)}, @level0type = N'SCHEMA', "
            f"@level0name = N'{SCHEMA}', @level1type = N'TABLE', @level1name = {literal(table)}"
        )
    for number, start in enumerate(range(0, len(layout), PIECE)):
        name = f"{PREFIX}{number:03}"
        session.execute(marking(table, layout[start : start + PIECE], name))
    return _digest(layout)


def get(session: Session, table: str, digest: str) -> str:
    """The layout that a mark refers to.

    Raises:
        TargetError: If it is missing.
    """
    layout = "".join(_pieces(session, table).values())
    if _digest(layout) != digest:
        raise TargetError(
            f"The record of the layout of {table} is missing. Load again with --replace.",
            kind="database",
        )
    return layout


def _pieces(session: Session, table: str) -> dict[str, str]:
    from dyno.targets.sqlserver.ddl import qualified

    rows = session.execute(
        "SELECT name, CAST(value AS nvarchar(4000)) FROM sys.extended_properties "  # noqa: S608
        f"WHERE class = 1 AND minor_id = 0 AND major_id = OBJECT_ID({literal(qualified(table))}) "
        f"AND name LIKE N'dyno[_]layout[_]%'"
    ).rows
    return {str(name): str(text) for name, text in sorted(rows)}


def _digest(layout: str) -> str:
    return hashlib.sha256(layout.encode()).hexdigest()[:16]

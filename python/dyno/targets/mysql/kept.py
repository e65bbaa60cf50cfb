"""Stores the full layout of the data, which is too long for the table comment with the mark."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from dyno.errors import TargetError, UsageError
from dyno.targets.mark import PREFIX
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted

TABLE = "dyno_layout"


def is_ours(comment: str | None, workload: str) -> bool:
    """Whether a table's comment identifies it as Dyno's."""
    return comment == _comment(workload)


def require_free(place: str, workload: str, relations: Mapping[str, str | None]) -> None:
    """Rejects a foreign table of that name.

    Raises:
        UsageError: With its name.
    """
    if TABLE in relations and not is_ours(relations[TABLE], workload):
        raise UsageError(f"{place}.{TABLE} was not created by Dyno; rename or move it.")


def put(session: MysqlConnection, place: str, workload: str, layout: str) -> str:
    """Stores a layout; returns the reference for the mark."""
    digest = hashlib.sha256(layout.encode()).hexdigest()[:16]
    table = f"{quoted(place)}.{quoted(TABLE)}"
    session.execute(
        f"CREATE TABLE IF NOT EXISTS {table} (digest VARCHAR(16) NOT NULL PRIMARY KEY, "
        f"layout LONGTEXT NOT NULL) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 "
        f"COMMENT={literal(_comment(workload))}"
    )
    row = f"({literal(digest)}, {literal(layout)})"
    session.execute(f"REPLACE INTO {table} VALUES {row}")  # noqa: S608  (quoted)
    return digest


def get(session: MysqlConnection, place: str, digest: str) -> str:
    """The layout that a mark refers to.

    Raises:
        TargetError: If it is missing.
    """
    table = f"{quoted(place)}.{quoted(TABLE)}"
    query = f"SELECT layout FROM {table} WHERE digest = {literal(digest)}"  # noqa: S608  (quoted)
    try:
        rows = session.execute(query).rows
    except TargetError:
        rows = []
    if not rows:
        raise TargetError(
            f"The record of the layout of {place} is missing: {place}.{TABLE} has no "
            f"{digest}. Load again with --replace.",
            kind="database",
        )
    return str(rows[0][0])


def _comment(workload: str) -> str:
    return f"{PREFIX}{workload} layout"

"""A workload's transactions as stored procedures (``dyno run --mode procedure``).

The text of a workload's procedures is ``<workload>.sql`` in this folder. They are in the database
of its tables. Their comment has Dyno's mark and a digest of their text; they are recreated when the
text changes.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

from dyno.errors import DatabaseError
from dyno.targets import mark, procedures
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted
from dyno.targets.mysql.errors import ROUTINES
from dyno.targets.procedures import Procedures

_TEXT = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
"""Character set of texts in procedures, as in the tables; the default is the database's."""
_CREATE = re.compile(r"^CREATE PROCEDURE \{place\}\.(\w+).*?^END(?=;)", re.MULTILINE | re.DOTALL)


def ensure(session: MysqlConnection, server: str, workload: str) -> dict[str, Any]:
    """Creates the procedures of a database, unless they exist in this version.

    Returns:
        The record: names, version, and whether they were created.

    Raises:
        UsageError: If Dyno did not create a procedure with one of their names.
        DynoError: If this user may not create or call them, with the statement that grants it.
    """
    place = mark.schema_of(workload)
    text = procedures.text(__name__, workload)
    bodies = {match[1]: match[0] for match in _CREATE.finditer(text)}
    own = Procedures.of(workload, text, bodies, any_case=True)
    present = _present(session, place)
    own.require_own(present, f"{server}, database {place}, contains procedures")
    made = not own.are_there(present)
    if made:
        fields = {"place": quoted(place), "text": _TEXT, "mark": literal(own.comment)}
        creates = [body.format(**fields) for body in bodies.values()]
        for statement in [*drops(session, workload), *creates]:
            session.execute(statement, ROUTINES)
    _require_callable(session, place, own.names[0])
    return own.facts(made=made)


def drops(session: MysqlConnection, workload: str) -> list[str]:
    """The statements that drop the procedures with Dyno's mark in a database."""
    place = mark.schema_of(workload)
    return [f"DROP PROCEDURE {quoted(place)}.{quoted(name)}" for name in _own(session, workload)]


def marked(session: MysqlConnection, workload: str) -> list[str]:
    """Names of the procedures with Dyno's mark, with their database."""
    return [f"{mark.schema_of(workload)}.{name}" for name in _own(session, workload)]


def _require_callable(session: MysqlConnection, place: str, name: str) -> None:
    """Rejects a user who may not call a procedure: a call without arguments does nothing.

    Raises:
        DynoError: With the statement that grants it.
    """
    with contextlib.suppress(DatabaseError):
        session.execute(f"CALL {quoted(place)}.{quoted(name)}()")


def _own(session: MysqlConnection, workload: str) -> list[str]:
    present = _present(session, mark.schema_of(workload))
    return [name for name, remark in present if mark.is_mark(remark, workload)]


def _present(session: MysqlConnection, place: str) -> list[tuple[str, str]]:
    """The procedures of a database that this user can see, with their comments."""
    rows = session.execute(
        "SELECT routine_name, routine_comment FROM information_schema.routines "  # noqa: S608
        f"WHERE routine_schema = {literal(place)} AND routine_type = 'PROCEDURE' ORDER BY 1"
    ).rows
    return [(str(name), str(comment)) for name, comment in rows]

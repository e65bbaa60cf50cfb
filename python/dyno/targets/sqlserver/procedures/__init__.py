"""A workload's transactions as stored procedures (``dyno run --mode procedure``).

The text of a workload's procedures is ``<workload>.sql`` in this folder, or all files of the folder
``<workload>``. They are in the schema ``dbo`` of the database of its tables. An extended property
has Dyno's mark and a digest of their text; they are recreated when the text changes.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

from dyno.errors import DynoError, TargetError
from dyno.targets import mark, procedures
from dyno.targets.procedures import Procedures
from dyno.targets.sqlserver.connection import Session, literal, quoted

PROPERTY = "dyno"
"""The extended property that holds Dyno's mark, as on tables."""

_SCHEMA = "dbo"
_GO = re.compile(r"^[ \t]*GO[ \t]*$", re.MULTILINE | re.IGNORECASE)
_CREATE = re.compile(r"^CREATE PROCEDURE \{place\}\.(\w+)", re.MULTILINE)


def ensure(session: Session, server: str, workload: str) -> dict[str, Any]:
    """Creates the procedures of a database, unless they exist in this version.

    All are replaced in one transaction.

    Returns:
        The record: names, version, and whether they were created.

    Raises:
        UsageError: If Dyno did not create a routine with one of their names.
        DynoError: If this user may not create or call them, with the statement that grants it.
    """
    place = mark.schema_of(workload)
    text = procedures.text(__name__, workload)
    own = Procedures.of(workload, text, _CREATE.findall(text), any_case=True)
    session.execute(f"USE {quoted(place)}")
    present = _present(session)
    own.require_own(present, f"{server}, database {place}, contains routines")
    made = not own.are_there(present)
    if made:
        _require_creatable(session, place)
        _replace(session, workload, own, text)
    _require_callable(session, place, own.names[0])
    return own.facts(made=made)


def batches(text: str) -> list[str]:
    """The batches of a script, which lines with ``GO`` separate.

    ``CREATE PROCEDURE`` must be alone in its batch.
    """
    return [batch.strip() for batch in _GO.split(text) if batch.strip()]


def drops(session: Session, workload: str) -> list[str]:
    """The statements that drop the procedures with Dyno's mark in a session's database."""
    return [f"DROP PROCEDURE {_called(name)}" for name in _own(session, workload)]


def marked(session: Session, workload: str) -> list[str]:
    """Names of the procedures with Dyno's mark in a session's database, with the database."""
    place = mark.schema_of(workload)
    return [f"{place}.{_SCHEMA}.{name}" for name in _own(session, workload)]


def _replace(session: Session, workload: str, own: Procedures, text: str) -> None:
    created = [batch.format(place=quoted(_SCHEMA)) for batch in batches(text)]
    marks = [
        f"EXECUTE sp_addextendedproperty {literal(PROPERTY)}, {literal(own.comment)}, "
        f"N'SCHEMA', {literal(_SCHEMA)}, N'PROCEDURE', {literal(name)}"
        for name in own.names
    ]
    session.execute("BEGIN TRANSACTION")
    try:
        for statement in [*drops(session, workload), *created, *marks]:
            session.execute(statement)
        session.execute("COMMIT TRANSACTION")
    except BaseException:
        with contextlib.suppress(DynoError):
            session.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION")
        raise


def _require_creatable(session: Session, place: str) -> None:
    """Rejects a user who may not create procedures, and so may not see those of others.

    Raises:
        TargetError: With what is missing.
    """
    rights = session.execute(
        "SELECT HAS_PERMS_BY_NAME(DB_NAME(), N'DATABASE', N'CREATE PROCEDURE'), "
        f"HAS_PERMS_BY_NAME({literal(_SCHEMA)}, N'SCHEMA', N'ALTER')"
    ).rows[0]
    if 0 in rights:
        raise TargetError(
            f"This user neither sees procedures in the database {place} nor may create them. Run "
            "procedure mode once as the owner of the database; then an administrator must run: "
            f"{_grant(session, place)}",
            kind="denied",
        )


def _grant(session: Session, place: str) -> str:
    return (
        f"USE {quoted(place)}; GRANT EXECUTE ON SCHEMA::{quoted(_SCHEMA)} TO {session.account()}."
    )


def _require_callable(session: Session, place: str, name: str) -> None:
    """Rejects a user who may not call a procedure.

    Raises:
        TargetError: With the statement that grants it.
    """
    asked = f"SELECT HAS_PERMS_BY_NAME({literal(_called(name))}, N'OBJECT', N'EXECUTE')"
    if session.execute(asked).rows[0][0] == 0:
        raise TargetError(
            f"This user may not call the procedures in the database {place}; an administrator must "
            f"run: {_grant(session, place)}",
            kind="denied",
        )


def _called(name: str) -> str:
    return f"{quoted(_SCHEMA)}.{quoted(name)}"


def _own(session: Session, workload: str) -> list[str]:
    return [name for name, remark in _present(session) if mark.is_mark(remark, workload)]


def _present(session: Session) -> list[tuple[str, str | None]]:
    """The routines of the schema that this user can see, with their marks."""
    rows = session.execute(
        "SELECT o.name, CAST(p.value AS nvarchar(4000)) FROM sys.objects AS o "  # noqa: S608
        "LEFT JOIN sys.extended_properties AS p ON p.class = 1 AND p.major_id = o.object_id "
        f"AND p.minor_id = 0 AND p.name = {literal(PROPERTY)} "
        f"WHERE o.schema_id = SCHEMA_ID({literal(_SCHEMA)}) "
        "AND o.type IN ('P', 'PC', 'FN', 'FS', 'IF', 'TF', 'FT') ORDER BY 1"
    ).rows
    return [(str(name), None if remark is None else str(remark)) for name, remark in rows]

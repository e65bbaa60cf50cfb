"""Which views a session may read, and the remedy for those that it may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.errors import DynoError
from dyno.targets.sqlserver.connection import Session, quoted

OWN = "/* dyno observer */ "
"""Begins each statement of Dyno's own observation, so that it can be told from the workload."""

_RIGHTS = f"""{OWN}SELECT HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER STATE'),
HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER PERFORMANCE STATE'),
HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW ANY DEFINITION'), SUSER_SNAME()"""
"""NULL for a right that the server does not know: SQL Server 2022 added the second."""
_STATE = (
    "sessions, waits, files, statements and tables of others are not seen; an administrator must "
    "run: USE master; GRANT VIEW SERVER STATE TO {login};"
)
_DEFINITION = (
    "files of databases of others have no role; an administrator must run: "
    "USE master; GRANT VIEW ANY DEFINITION TO {login};"
)
_UNREAD = "{view} cannot be read: {reason}"


class Views:
    """Reads views in one session. A view that is denied or absent is asked once, and noted.

    A locked view is asked again.
    """

    def __init__(self) -> None:
        self.missing: dict[str, str] = {}
        """Why a view cannot be read, by view."""
        self._absent: list[str] = []
        self._locked: set[str] = set()

    def rows(self, session: Session, view: str, sql: str) -> Sequence[Sequence[Any]] | None:
        """The rows of a statement on a view; None if the view cannot be read.

        Args:
            session: The session.
            view: The view, which the note names.
            sql: The statement.

        Raises:
            DynoError: If the server does not respond.
        """
        if view in self.missing and view not in self._locked:
            return None
        try:
            rows = session.execute(sql).rows
        except DynoError as error:
            if not error.is_refusal:
                raise
            if _is_absent(session, str(error)):
                self._absent.append(view)
                self.missing[view] = f"the server lacks {view}"
            else:
                self.missing[view] = _UNREAD.format(view=view, reason=str(error).rstrip("."))
                if error.kind == "lock_timeout":
                    self._locked.add(view)
            return None
        if view in self._locked:
            self._locked.remove(view)
            del self.missing[view]
        return rows

    @property
    def notes(self) -> list[str]:
        """One line for all views that the server lacks, and one for each that it denies."""
        absent = [f"the server lacks {', '.join(self._absent)}"] if self._absent else []
        denied = [reason for view, reason in self.missing.items() if view not in self._absent]
        return absent + denied


def _is_absent(session: Session, error: str) -> bool:
    return "[error 208]" in error or (session.version.is_babelfish and "does not exist" in error)


def rights(session: Session) -> list[str]:
    """The rights that this login lacks, each with the GRANT; one line each.

    Raises:
        DynoError: If the server does not respond.
    """
    return [note for note in _lacking(session) if note]


def unseen(session: Session) -> str:
    """Why other sessions are not seen; empty if they are.

    Without the right, views of sessions and requests do not fail: they show the own session only.

    Raises:
        DynoError: If the server does not respond.
    """
    return _lacking(session)[0]


def definition_right(session: Session) -> str:
    """Why the files of other databases are not seen; empty if they are.

    Raises:
        DynoError: If the server does not respond.
    """
    return _lacking(session)[1]


def _lacking(session: Session) -> tuple[str, str]:
    """What is not seen without the rights on states and on definitions; empty for a right."""
    version = session.version
    if version.is_babelfish:
        return "", ""  # it has no such views
    try:
        state, performance, definition, login = session.execute(_RIGHTS).rows[0]
    except DynoError as error:
        if not error.is_refusal:
            raise
        return _UNREAD.format(view="HAS_PERMS_BY_NAME", reason=str(error).rstrip(".")), ""
    named = quoted(str(login)) if login else "the login"
    return (
        "" if state or performance else _STATE.format(login=named),
        "" if definition else _DEFINITION.format(login=named),
    )

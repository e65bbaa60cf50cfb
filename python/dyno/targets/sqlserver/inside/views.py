"""Which views a session may read, and the remedy for those that it may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.errors import DynoError
from dyno.targets.sqlserver.connection import Session, quoted

OWN = "/* dyno observer */ "
"""Begins each statement of Dyno's own observation, so that it can be told from the workload."""

_RIGHTS = f"""{OWN}SELECT HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER STATE'),
HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW ANY DEFINITION'), SUSER_SNAME()"""
_STATE = (
    "sessions, waits, files, statements and tables of others are not seen; an administrator must "
    "run: USE master; GRANT VIEW SERVER STATE TO {login};"
)
_DEFINITION = (
    "files of databases of others have no role; an administrator must run: "
    "USE master; GRANT VIEW ANY DEFINITION TO {login};"
)
_ABSENT = "{view} cannot be read: {reason}"


class Views:
    """Reads views in one session. A view that is denied or absent is asked once, and noted."""

    def __init__(self) -> None:
        self.missing: dict[str, str] = {}
        """Why a view cannot be read, by view."""

    def rows(self, session: Session, view: str, sql: str) -> Sequence[Sequence[Any]] | None:
        """The rows of a statement on a view; None if the view cannot be read.

        Args:
            session: The session.
            view: The view, which the note names.
            sql: The statement.

        Raises:
            DynoError: If the server does not respond.
        """
        if view in self.missing:
            return None
        try:
            return session.execute(sql).rows
        except DynoError as error:
            if error.kind not in ("denied", "database"):
                raise
            self.missing[view] = _ABSENT.format(view=view, reason=str(error).rstrip("."))
            return None

    @property
    def notes(self) -> list[str]:
        """One line for each view that cannot be read."""
        return list(self.missing.values())


def rights(session: Session) -> list[str]:
    """The rights that this login lacks, each with the GRANT; one line each.

    Without ``VIEW SERVER STATE`` some views fail, and others show the own session only.

    Raises:
        DynoError: If the server does not respond.
    """
    if session.version.is_babelfish:
        return []  # it has none of these views, whatever the rights
    try:
        state, definition, login = session.execute(_RIGHTS).rows[0]
    except DynoError as error:
        if error.kind not in ("denied", "database"):
            raise
        return [_ABSENT.format(view="HAS_PERMS_BY_NAME", reason=str(error).rstrip("."))]
    named = quoted(str(login)) if login else "the login"
    wanted = ((state, _STATE), (definition, _DEFINITION))
    # NULL: the server does not know this right.
    return [text.format(login=named) for has, text in wanted if has is not None and not int(has)]

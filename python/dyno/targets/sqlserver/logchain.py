"""The log chain of a database: without it, FULL and BULK_LOGGED behave as SIMPLE.

A database leaves SIMPLE with its first full or differential backup. Until then each checkpoint
frees its log. A backup to ``NUL`` reads the data and writes nothing.

Source: Microsoft, "Recovery models (SQL Server)", "View or change the recovery model of a
database", "BACKUP (Transact-SQL)", "sys.database_recovery_status (Transact-SQL)".
"""

from __future__ import annotations

from collections.abc import Sequence

from dyno.errors import DynoError
from dyno.targets.sqlserver.connection import Session, quoted

KEPT = ("FULL", "BULK_LOGGED")
"""Recovery models that keep the log until it is backed up."""

STARTED = (
    "SELECT d.name, CASE WHEN r.last_log_backup_lsn IS NULL THEN 0 ELSE 1 END "
    "FROM sys.databases AS d "
    "JOIN sys.database_recovery_status AS r ON r.database_id = d.database_id"
)
"""Whether the log chain of each database has begun; of those that the login may see."""

_BROKEN = (
    "the chain of log backups of {places} is broken: after the run, take a full or differential "
    "backup"
)
_NOT_STARTED = "{places} still behaves as SIMPLE: its chain of log backups has not begun"
_UNKNOWN = "it is unknown whether the chain of log backups of {places} has begun: {reason}"


def start(database: str) -> str:
    """The backup that begins the log chain. One with COPY_ONLY would not.

    A full one would become the base of later differential backups, and could not be restored. So a
    database that has a base gets a differential one.
    """
    place = quoted(database)
    backup = f"BACKUP DATABASE {place} TO DISK = N'NUL'"
    return (
        f"IF EXISTS (SELECT 1 FROM {place}.sys.database_files "  # noqa: S608  (quoted)
        "WHERE type = 0 AND differential_base_lsn IS NOT NULL) "
        f"{backup} WITH DIFFERENTIAL ELSE {backup}"
    )


def right(database: str) -> str:
    """The GRANT that the backup needs, without its login."""
    return f"USE {quoted(database)}; GRANT BACKUP DATABASE"


def starts(before: str, value: str) -> bool:
    """Whether a change of the recovery model needs the backup."""
    return before == "SIMPLE" and value in KEPT


def broken(before: dict[str, str], value: str) -> str:
    """A note if SIMPLE breaks the log chain of databases; else empty.

    Args:
        before: Their recovery models before the run.
        value: The one that the run sets.
    """
    places = [name for name, model in before.items() if model in KEPT]
    return _BROKEN.format(places=", ".join(places)) if places and value == "SIMPLE" else ""


def note(session: Session, places: Sequence[str], value: str) -> str:
    """What the log chains of databases with a recovery model lack; empty if nothing.

    Raises:
        DynoError: If the server does not respond.
    """
    if not places or value not in KEPT:
        return ""
    try:
        known = {str(name): bool(begun) for name, begun in session.execute(STARTED).rows}
    except DynoError as error:
        if not error.is_refusal:
            raise
        return _UNKNOWN.format(places=", ".join(places), reason=str(error).rstrip("."))
    lacking = [name for name in places if not known.get(name, True)]
    hidden = [name for name in places if name not in known]
    found = [_NOT_STARTED.format(places=", ".join(lacking))] if lacking else []
    if hidden:
        reason = "the login does not see it"
        found.append(_UNKNOWN.format(places=", ".join(hidden), reason=reason))
    return "; ".join(found)

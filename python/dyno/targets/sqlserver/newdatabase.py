"""New databases: ``CREATE DATABASE``, then files that grow by a known size.

The server fills a log with zeros when it grows (since 2022 only by more than 64 MB); data files
too, unless it may initialise files instantly. Without that knowledge the growth of data has no
rate.
"""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Callable

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets import mark
from dyno.targets.sqlserver import database
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.work import NAME

PLACE = "dyno_new_database"
MARK = f"{mark.PREFIX}create-database"
PROPERTY = "dyno"
GROWN_MB = 256
MAY = "SELECT HAS_PERMS_BY_NAME(NULL, NULL, N'CREATE ANY DATABASE')"
EXISTS = f"SELECT COUNT(*) FROM sys.databases WHERE name = {literal(PLACE)}"  # noqa: S608
MARKED = (
    f"SELECT COUNT(*) FROM {quoted(PLACE)}.sys.extended_properties "  # noqa: S608  (fixed names)
    f"WHERE class = 0 AND name = {literal(PROPERTY)} AND CAST(value AS nvarchar(100)) = "
    f"{literal(MARK)}"
)
CREATE = f"CREATE DATABASE {quoted(PLACE)}"
ADD_MARK = (
    f"EXECUTE {quoted(PLACE)}.sys.sp_addextendedproperty @name = {literal(PROPERTY)}, "
    f"@value = {literal(MARK)}"
)
DROP = f"DROP DATABASE {quoted(PLACE)}"
FILES = f"SELECT type, name, size FROM {quoted(PLACE)}.sys.database_files ORDER BY file_id"  # noqa: S608
"""Sizes in pages of 8 KiB."""
GROW = f"ALTER DATABASE {quoted(PLACE)} MODIFY FILE (NAME = {{name}}, SIZE = {{size}}MB)"
INSTANT = (
    "SELECT MAX(instant_file_initialization_enabled) FROM sys.dm_server_services "
    "WHERE servicename LIKE N'SQL Server (%'"
)
"""``Y`` or ``N``; NULL if the server does not report it."""
_PAGES_PER_MB = 128
_LOG = 1

Open = Callable[[], Session]


def new_database(opened: Open) -> NewDatabase | str:
    """The task, or the reason why it is impossible.

    Raises:
        DynoError: If the server does not respond.
    """
    with contextlib.closing(opened()) as session:
        if not int(session.execute(MAY).rows[0][0] or 0):
            user = session.account() or "the login"
            return (
                "this login may not create databases; an administrator must run: USE master; "
                f"GRANT CREATE ANY DATABASE TO {user};"
            )
        if _exists(session) and not _is_marked(session):
            return f"the server has a database {PLACE} without Dyno's mark; drop it if a killed " \
                "run left it"  # fmt: skip
    return NewDatabase(opened)


def sweep(session: Session) -> list[str]:
    """Drops the marked database of a killed task; returns its name."""
    found = left(session)
    for name in found:
        database.drop(session, name)
    return found


def left(session: Session) -> list[str]:
    """The name of the marked database of a killed task, if there is one."""
    return [PLACE] if _exists(session) and _is_marked(session) else []


def _exists(session: Session) -> bool:
    return bool(session.execute(EXISTS).rows[0][0])


def _is_marked(session: Session) -> bool:
    try:
        return bool(session.execute(MARKED).rows[0][0])
    except DynoError as error:
        if not (error.is_refusal or error.kind == "unreachable"):
            raise
        return False


class NewDatabase:
    """Implements the protocol. A round creates a database, grows its files, and drops it."""

    def __init__(self, opened: Open) -> None:
        """Opens the session; creates nothing yet.

        Raises:
            DynoError: If the server does not respond.
        """
        self._open = opened
        self._seconds: dict[str, list[float]] = {}
        self._session = opened()
        try:
            sweep(self._session)
            self._instant = self._instantly()
        except BaseException:
            self._session.close()
            raise

    @property
    def method(self) -> str:
        """The method, as text."""
        data = {
            True: "the data file without writing it (instant file initialisation)",
            False: "the data file, filled with zeros",
            None: "the data file (unknown whether it is written)",
        }[self._instant]
        return (
            f"CREATE DATABASE from model; then {GROWN_MB} MB more for {data}, and for the log, "
            "filled with zeros; DROP DATABASE"
        )

    @property
    def estimate(self) -> SpaceEstimate:
        """Both files."""
        return SpaceEstimate(2 * GROWN_MB << 20, "what the data file and the log grow by")

    @property
    def step_seconds(self) -> dict[str, float]:
        """Median seconds by step: ``create``, ``grow_data``, ``grow_log``, ``drop_database``."""
        return {name: statistics.median(times) for name, times in self._seconds.items()}

    @property
    def step_bytes(self) -> dict[str, int]:
        """Bytes that a step certainly writes."""
        sure = {"grow_log"} | ({"grow_data"} if self._instant is False else set())
        return dict.fromkeys(sorted(sure & self._seconds.keys()), GROWN_MB << 20)

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Creates, grows and drops a database."""
        try:
            self._round(stop, progress)
        except DynoError as error:
            if stop.is_set() or error.kind == "timeout":
                raise self._stopped() from error
            raise
        passed = not _exists(self._session)
        message = f"created, both files grown by {GROWN_MB} MB, dropped"
        return [Check(name="create-database", target=NAME, passed=passed, message=message)]

    def space(self) -> int | None:
        """None: the space is the estimate's, and is not sampled."""
        return None

    def cancel(self) -> None:
        """See the protocol."""
        self._session.cancel()

    def close(self) -> None:
        """Drops the database, and ends the session."""
        self._session.close()
        # The working session may still be busy, or broken.
        with contextlib.suppress(DynoError), contextlib.closing(self._open()) as session:
            sweep(session)

    def _round(self, stop: threading.Event, progress: Progress) -> None:
        steps = 4
        progress(0, steps, "create database")
        self._timed("create", CREATE)
        self._session.execute(ADD_MARK)
        for number, (kind, name, pages) in enumerate(self._session.execute(FILES).rows, start=1):
            if stop.is_set():
                raise self._stopped()
            step = "grow_log" if int(kind) == _LOG else "grow_data"
            progress(number, steps, step.replace("_", " "))
            size = -(-int(pages) // _PAGES_PER_MB) + GROWN_MB
            self._timed(step, GROW.format(name=literal(str(name)), size=size))
        progress(steps - 1, steps, "drop database")
        self._timed("drop_database", DROP)
        progress(steps, steps, "")

    def _timed(self, step: str, statement: str) -> None:
        start = time.monotonic()
        self._session.execute(statement)
        self._seconds.setdefault(step, []).append(time.monotonic() - start)

    def _instantly(self) -> bool | None:
        try:
            found = self._session.execute(INSTANT).rows
        except DynoError as error:
            if not error.is_refusal:
                raise
            return None
        shown = str(found[0][0] or "") if found else ""
        return {"Y": True, "N": False}.get(shown)

    @staticmethod
    def _stopped() -> Interrupted:
        return Interrupted("The creation of a database was stopped.")

"""Base of maintenance: a session that works in a database, and one that watches its space."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets import mark
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside.performance import PAGE

NAME = "sqlserver"
Connect = Callable[[str], Session]
"""Opens a session in the database of a workload; empty for that of the URL."""

ALLOCATED = f"SELECT SUM(allocated_extent_page_count) * {PAGE} FROM sys.dm_db_file_space_usage"  # noqa: S608
"""Bytes of the current database's extents in use; needs VIEW DATABASE STATE."""


class Work(ABC):
    """Steps in one session, each for a part of the database."""

    name: ClassVar[str]
    method: str
    estimate: SpaceEstimate

    def __init__(self, connect: Connect, workload: str) -> None:
        """Opens the sessions.

        Raises:
            DynoError: If the server does not respond.
        """
        self.place = mark.schema_of(workload)
        self.session = connect(workload)
        self._watching: Session | None = None
        self._lock = threading.Lock()
        self._started: int | None = None
        try:
            self._watching = connect(workload)
            self._prepare()
        except BaseException:
            self.close()
            raise

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Takes every step (see the protocol)."""
        steps = self._steps()
        if self._started is None:
            self._started = self._occupied()
        checks: list[Check] = []
        for number, step in enumerate(steps):
            progress(number, len(steps), f"{self.name} of {step}")
            if stop.is_set():
                raise self._stopped()
            try:
                checks.append(self._work(step))
            except DynoError as error:
                if stop.is_set() or error.kind == "timeout":
                    raise self._stopped() from error
                raise
        progress(len(steps), len(steps), "")
        return checks

    def space(self) -> int | None:
        """Growth in bytes since the start; None if the server does not report it."""
        now = self._occupied()
        if now is None or self._started is None:
            return None
        return max(0, now - self._started)

    def cancel(self) -> None:
        """Stops the running statement; the server rolls it back."""
        self.session.cancel()

    def close(self) -> None:
        """Ends the sessions."""
        self.session.close()
        with self._lock:
            if self._watching is not None:
                self._watching.close()
                self._watching = None

    @abstractmethod
    def _prepare(self) -> None:
        """Reads what the steps and the estimate need."""

    @abstractmethod
    def _steps(self) -> Sequence[str]:
        """Names of the steps."""

    @abstractmethod
    def _work(self, step: str) -> Check:
        """Takes a step."""

    def _space_query(self) -> str:
        """SQL for the bytes that are occupied now."""
        return ALLOCATED

    def _occupied(self) -> int | None:
        with self._lock:
            if self._watching is None:
                return None
            try:
                found = self._watching.execute(self._space_query()).rows
            except DynoError:
                return None
        return int(found[0][0] or 0) if found else None

    def _check(self, step: str, message: str, *, passed: bool) -> Check:
        return Check(name=f"{self.name} {step}", target=NAME, passed=passed, message=message)

    def _stopped(self) -> Interrupted:
        return Interrupted(f"The {self.name} was stopped.")

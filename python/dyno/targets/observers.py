"""The sessions of Dyno's own probes, whose statements a query's metrics must not count.

The counters of a query are server-wide (``meter.py`` of a target). So no probe works while they are
read, and the statements that probes ran in between are known.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from dyno.contracts.probe import Sample
from dyno.contracts.target import Connection
from dyno.errors import error_of_kind
from dyno.targets.sessionprobe import Ask, Asked, SessionProbe

_WAIT_S = 1.0


class Counting(Connection, Protocol):
    """A session that counts the statements that it sends."""

    statements: int


Session = TypeVar("Session", bound=Counting)


class Observers(Generic[Session]):
    """Counts the statements of the probes of one server, and stops them while a meter reads."""

    def __init__(
        self, most: int | None = None, uncounted: Callable[[Session], int] = lambda _: 0
    ) -> None:
        """Has no sessions yet.

        Args:
            most: How many probes may work at a time; None for all.
            uncounted: The statements of a new session that it did not count: those of its login.
        """
        self._most, self._uncounted = most, uncounted
        self._changed = threading.Condition()
        self._working = self._waiting = 0
        self._quiet = False
        self._sessions: list[tuple[Session, int]] = []

    def probes(
        self, connect: Callable[[], Session], asked: Mapping[str, Asked[Session]]
    ) -> list[SessionProbe[Session]]:
        """Probes by their names; each has its own session."""
        return [
            SessionProbe(name, lambda: self._connect(connect), self._taking_turns(one))
            for name, one in asked.items()
        ]

    @contextlib.contextmanager
    def quiet(self) -> Generator[int]:
        """Keeps the probes from working; yields the number of statements that they have sent.

        A reading that does not end does not keep the caller waiting; the server counts it as well.
        """
        with self._changed:
            self._waiting += 1
            try:
                held = self._changed.wait_for(lambda: not (self._working or self._quiet), _WAIT_S)
                self._quiet = self._quiet or held
            finally:
                self._waiting -= 1
        try:
            yield sum(before + session.statements for session, before in self._sessions)
        finally:
            with self._changed:
                self._quiet = self._quiet and not held
                self._changed.notify_all()

    def _connect(self, connect: Callable[[], Session]) -> Session:
        with self._turn():
            session = connect()
            self._sessions.append((session, self._uncounted(session)))
            return session

    def _taking_turns(self, asked: Asked[Session]) -> Asked[Session]:
        """The same probe, whose readings wait for their turn."""

        def make() -> Ask[Session]:
            ask = asked.make()

            def read(session: Session, now_ns: int) -> Sequence[Sample]:
                with self._turn():
                    return ask(session, now_ns)

            return read

        return Asked(make, asked.period_s, asked.deadline_s)

    @contextlib.contextmanager
    def _turn(self) -> Generator[None]:
        with self._changed:
            if not self._changed.wait_for(self._free, _WAIT_S):
                raise error_of_kind("timeout", "The server does not answer another probe.")
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def _free(self) -> bool:
        if self._quiet or self._waiting:
            return False
        return self._most is None or self._working < self._most

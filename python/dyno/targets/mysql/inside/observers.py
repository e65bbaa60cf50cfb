"""The sessions of Dyno's own probes, whose statements a query's metrics must not count.

The counters of a query are server-wide (``meter.py``). So no probe works while they are read, and
the statements that probes ran in between are known.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence

from dyno.contracts.probe import Sample
from dyno.errors import error_of_kind
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.sessionprobe import Ask, Asked

_WAIT_S = 1.0


class Observers:
    """Counts the statements of the probes of one server, and lets one session at a time work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: list[tuple[MysqlConnection, int]] = []

    def connect(self, connect: Callable[[], MysqlConnection]) -> MysqlConnection:
        """Opens a session of a probe.

        Raises:
            TargetError: If the server does not respond.
        """
        with self._turn():
            session = connect()
            shown = session.execute("SHOW SESSION STATUS LIKE 'Questions'").rows
            # Logging in runs statements that are not the session's own.
            self._sessions.append((session, int(shown[0][1]) - session.statements))
            return session

    def asked(self, asked: Asked[MysqlConnection]) -> Asked[MysqlConnection]:
        """The same probe, whose readings wait for their turn."""

        def make() -> Ask[MysqlConnection]:
            ask = asked.make()

            def read(session: MysqlConnection, now_ns: int) -> Sequence[Sample]:
                with self._turn():
                    return ask(session, now_ns)

            return read

        return Asked(make, asked.period_s, asked.deadline_s)

    @contextlib.contextmanager
    def quiet(self) -> Generator[int]:
        """Keeps the probes from working; yields the number of statements that they have sent.

        A reading that does not end does not keep the caller waiting; the server counts it as well.
        """
        held = self._lock.acquire(timeout=_WAIT_S)
        try:
            yield sum(before + session.statements for session, before in self._sessions)
        finally:
            if held:
                self._lock.release()

    @contextlib.contextmanager
    def _turn(self) -> Generator[None]:
        if not self._lock.acquire(timeout=_WAIT_S):
            raise error_of_kind("timeout", "The server does not answer another probe.")
        try:
            yield
        finally:
            self._lock.release()

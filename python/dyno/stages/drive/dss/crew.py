"""Several streams at once, stopped together: by Ctrl-C, or because one of them cannot go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from dyno.contracts.meter import Metering, QueryMeter
from dyno.contracts.target import Connection, Target
from dyno.runtime.engine_calls import interruptible
from dyno.stages.drive.dss.session import Session

T = TypeVar("T")

_POLL_S = 0.05
_CANCEL_AGAIN_S = 0.5


class Crew:
    """Sessions and the threads that work on them.

    Use as a context manager; leaving it closes the sessions.

    Attributes:
        stop: Set once everybody shall end.
    """

    def __init__(self, target: Target, workload: str, metering: Metering = "always") -> None:
        """Nothing is opened yet. ``metering``: which queries the engine counts for."""
        self._target, self._workload = target, workload
        self._metering: Metering = metering
        self.stop = threading.Event()
        self._sessions: list[Session] = []
        self._failure: BaseException | None = None

    def __enter__(self) -> Crew:
        """Nothing is opened yet."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Closes the sessions."""
        for session in self._sessions:
            session.close()

    def session(self) -> Session:
        """A new session of the target, in which the workload's tables are found by their names.

        Raises:
            TargetError: If the target takes none.
        """

        def connect() -> Connection:
            return self._target.connect(self._workload)

        def metered(connection: Connection) -> QueryMeter:
            return QueryMeter(self._target, connection, self._metering)

        session = Session(connect, self.stop, metered=metered)
        self._sessions.append(session)
        return session

    def run(self, jobs: Sequence[Callable[[], None]]) -> None:
        """Runs each job in a thread of its own, until all have ended.

        Jobs look at :attr:`stop` between statements.

        Raises:
            Interrupted: After Ctrl-C; statements under way have been cancelled.
            Exception: What the first job that failed raised; the others have been stopped.
        """
        interruptible(lambda: self._run(jobs), self.cancel)

    def cancel(self) -> None:
        """Ends everybody's work: no further statement, and none goes on."""
        self.stop.set()
        for session in self._sessions:
            session.cancel()

    def _run(self, jobs: Sequence[Callable[[], None]]) -> None:
        threads = [
            threading.Thread(target=self._guarded, args=(job,), daemon=True, name=f"dyno-{number}")
            for number, job in enumerate(jobs)
        ]
        for thread in threads:
            thread.start()
        cancelled = time.monotonic()
        for thread in threads:
            while thread.is_alive():
                thread.join(_POLL_S)
                for session in list(self._sessions):
                    session.expire()
                # A statement that began just after the first cancellation needs another.
                if self.stop.is_set() and time.monotonic() - cancelled > _CANCEL_AGAIN_S:
                    self.cancel()
                    cancelled = time.monotonic()
        if self._failure is not None:
            raise self._failure

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            if not self.stop.is_set():
                self._failure = error
            self.cancel()


class Tally:
    """How many queries have ended; others may wait for a number of them."""

    def __init__(self) -> None:
        self._ended = 0
        self._changed = threading.Condition()

    def add(self) -> int:
        """One more has ended; returns how many."""
        with self._changed:
            self._ended += 1
            self._changed.notify_all()
            return self._ended

    def wait(self, count: int, stop: threading.Event) -> None:
        """Waits until ``count`` have ended, or ``stop`` is set."""
        with self._changed:
            while self._ended < count and not stop.is_set():
                self._changed.wait(_POLL_S)

"""Runs several streams concurrently and stops them together, on Ctrl-C or a fatal error in one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from dyno import workloads
from dyno.contracts.meter import Metering, QueryMeter
from dyno.contracts.target import Connection, Target
from dyno.runtime.engine_calls import interruptible
from dyno.stages.drive.dss.freshness import watch
from dyno.stages.drive.dss.session import Session

T = TypeVar("T")

_POLL_S = 0.05
_CANCEL_AGAIN_S = 0.5


class Crew:
    """Sessions and their worker threads.

    Use as a context manager; the exit closes the sessions.

    Attributes:
        stop: Set when all workers must end.
    """

    def __init__(
        self,
        target: Target,
        workload: str,
        metering: Metering = "always",
        *,
        watched: bool = True,
    ) -> None:
        """Opens nothing yet.

        Args:
            target: The target.
            workload: The workload of the queries.
            metering: Which queries the engine meters.
            watched: Whether sessions may read which transactions a query sees before it. Cold
                tests do not, because that would read data first.
        """
        self._target, self._workload, self._watched = target, workload, watched
        self._metering: Metering = metering
        self.stop = threading.Event()
        self._sessions: list[Session] = []
        self._failure: BaseException | None = None

    def __enter__(self) -> Crew:
        """Opens nothing yet."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Closes the sessions."""
        for session in self._sessions:
            session.close()

    def session(self, database: str | None = None) -> Session:
        """Opens a session in which unqualified table names refer to the workload.

        Args:
            database: One of several databases of the workload.

        Raises:
            TargetError: If the target rejects the session.
        """

        def connect() -> Connection:
            return self._target.connect(workloads.place_of(database or self._workload))

        def metered(connection: Connection) -> QueryMeter:
            return QueryMeter(self._target, connection, self._metering)

        def other() -> Connection:
            session = Session(connect, self.stop)
            self._sessions.append(session)
            return session.connection

        fresh = watch(self._target, database or self._workload, other) if self._watched else None
        session = Session(connect, self.stop, metered=metered, watch=fresh)
        self._sessions.append(session)
        return session

    def run(self, jobs: Sequence[Callable[[], None]]) -> None:
        """Runs each job in its own thread and waits until all end.

        Jobs check :attr:`stop` between statements.

        Raises:
            Interrupted: After Ctrl-C. Running statements are cancelled.
            Exception: The exception of the first failed job. The other jobs are stopped.
        """
        interruptible(lambda: self._run(jobs), self.cancel)

    def cancel(self) -> None:
        """Stops all workers: prevents further statements and cancels the running ones.

        All at once, as each waits some seconds for a server that does not respond.
        """
        self.stop.set()
        threads = [
            threading.Thread(target=session.cancel, daemon=True, name="dyno-cancel")
            for session in list(self._sessions)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

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
                # A statement that started just after the first cancellation needs another one.
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
    """Counts completed queries. Other threads can wait for a count."""

    def __init__(self) -> None:
        self._ended = 0
        self._changed = threading.Condition()

    def add(self) -> int:
        """Counts one completed query and returns the new count."""
        with self._changed:
            self._ended += 1
            self._changed.notify_all()
            return self._ended

    def wait(self, count: int, stop: threading.Event) -> None:
        """Waits until ``count`` queries are complete or ``stop`` is set."""
        with self._changed:
            while self._ended < count and not stop.is_set():
                self._changed.wait(_POLL_S)

"""Concurrent sessions, each with its own sequence of work."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dyno.contracts.target import Connection
from dyno.errors import DynoError, TargetError

T = TypeVar("T")

PATIENCE_S = 0.5
"""Work that takes longer waits for another session's lock, unless the server is slow."""
SLOWER = 5.0
"""Work that does not wait takes at most so many times as long as what the sessions did before."""

LIMIT_S = 30.0
"""Anything that takes longer is stuck."""

MOST_ATTEMPTS = 5
_AGAIN = {"serialization", "deadlock"}


@dataclass
class Pace:
    """How long the sessions of a stage took, where nobody was in their way."""

    longest_s: float = 0.0

    @property
    def patience_s(self) -> float:
        """What takes longer waits.

        A slow server must not pass for one that makes others wait: then the others would read
        before its changes, and nothing would be tested.
        """
        return min(max(PATIENCE_S, SLOWER * self.longest_s), LIMIT_S)


@dataclass
class Actor:
    """One of the concurrent transactions: a session and its thread."""

    connection: Connection
    begin: Callable[[bool], tuple[str, ...]]
    pace: Pace
    _thread: ThreadPoolExecutor

    def do(self, work: Callable[[Connection], T]) -> Future[T]:
        """Starts work on the session, after all work started before."""
        return self._thread.submit(work, self.connection)

    def now(self, work: Callable[[Connection], T]) -> T:
        """Does work and waits for its end.

        Raises:
            DynoError: The database's error; ``timeout`` without an answer.
        """
        return self._timed(self.do(work))

    def alone(self, work: Callable[[Connection], T]) -> T:
        """Does a whole transaction that nobody is in the way of; :meth:`waits` knows its time then.

        Raises:
            DynoError: The database's error; ``timeout`` without an answer.
        """
        return self._timed(self.whole(work)).result

    def waits(self, future: Future[T]) -> bool:
        """Whether work still runs after the patience."""
        try:
            future.result(self.pace.patience_s)
        except FutureTimeout:
            return True
        except DynoError:
            return False
        return False

    def _timed(self, future: Future[T]) -> T:
        begun = time.monotonic()
        result = ended(future)
        self.pace.longest_s = max(self.pace.longest_s, time.monotonic() - begun)
        return result

    def open(self, *, writes: bool) -> None:
        """Begins a transaction."""
        for statement in self.begin(writes):
            self.now(lambda session, text=statement: session.execute(text))

    def commit(self) -> None:
        """Commits the transaction."""
        self.now(lambda session: session.execute("COMMIT"))

    def rollback(self) -> None:
        """Rolls the transaction back."""
        self.now(lambda session: session.execute("ROLLBACK"))

    def end(self, *, commits: bool) -> None:
        """Commits the transaction, or rolls it back."""
        if commits:
            self.commit()
        else:
            self.rollback()

    def whole(self, work: Callable[[Connection], T], *, writes: bool = True) -> Future[Attempts[T]]:
        """Starts a whole transaction; retries it after a deadlock or serialisation failure."""

        def attempts(session: Connection) -> Attempts[T]:
            tally: Attempts[T] = Attempts()
            while True:
                try:
                    for statement in self.begin(writes):
                        session.execute(statement)
                    result = work(session)
                    session.execute("COMMIT")
                except DynoError as error:
                    with contextlib.suppress(DynoError):
                        session.execute("ROLLBACK")
                    if error.kind not in _AGAIN or len(tally.given_up) + 1 >= MOST_ATTEMPTS:
                        raise
                    tally.given_up.append(error.kind)
                else:
                    tally.results.append(result)
                    return tally

        return self.do(attempts)


@dataclass
class Attempts(Generic[T]):
    """Result of a transaction, and the classes of errors that caused retries."""

    results: list[T] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)

    @property
    def result(self) -> T:
        """The result of the committed attempt."""
        return self.results[-1]


class Stage:
    """Opens actors, and closes them all at the end."""

    def __init__(
        self, connect: Callable[[], Connection], begin: Callable[[bool], tuple[str, ...]]
    ) -> None:
        self._connect, self._begin = connect, begin

    @contextlib.contextmanager
    def actors(self, count: int) -> Generator[list[Actor]]:
        """Opens ``count`` sessions; closing them rolls back open transactions."""
        pace = Pace()
        with contextlib.ExitStack() as stack:
            yield [self._actor(stack, number, pace) for number in range(1, count + 1)]

    def _actor(self, stack: contextlib.ExitStack, number: int, pace: Pace) -> Actor:
        thread = ThreadPoolExecutor(1, thread_name_prefix=f"dyno-t{number}")
        stack.callback(thread.shutdown, wait=False, cancel_futures=True)
        connection = ended(thread.submit(self._connect))
        stack.callback(_leave, connection, thread)
        return Actor(connection, self._begin, pace, thread)


def _leave(connection: Connection, thread: ThreadPoolExecutor) -> None:
    """Closes the session in its own thread; first cancels a statement that still waits."""
    closed = threading.Event()

    def close() -> None:
        connection.close()
        closed.set()

    thread.submit(close)
    if not closed.wait(PATIENCE_S):
        connection.cancel()
        closed.wait(LIMIT_S)


def ended(future: Future[T]) -> T:
    """Its result.

    Raises:
        TargetError: Of the kind ``timeout``, if it does not end.
    """
    try:
        return future.result(LIMIT_S)
    except FutureTimeout as error:
        message = f"A statement waited longer than {LIMIT_S:g} s for a lock of another session."
        raise TargetError(message, kind="timeout") from error

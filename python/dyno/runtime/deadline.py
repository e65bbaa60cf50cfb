"""A timeout for work on a session."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from dyno.config.units import seconds_text
from dyno.errors import DynoError, Interrupted, TargetError
from dyno.runtime.engine_calls import interruptible

T = TypeVar("T")


class Deadline:
    """The timeout of one piece of work, supervised by another thread.

    A context manager around the work. On exit it raises ``TargetError`` with kind ``timeout`` if
    the work took too long, instead of the database's error.
    """

    def __init__(self, seconds: float | None, cancel: Callable[[], None]) -> None:
        """Starts the clock.

        Args:
            seconds: The timeout; None for no limit.
            cancel: Stops the work; called from the supervising thread.
        """
        self._seconds = math.inf if seconds is None else seconds
        self._due = time.monotonic() + self._seconds
        self._cancel = cancel
        self._end: float | None = None
        self._lock = threading.Lock()

    def expire(self) -> None:
        """Cancels work that has timed out. Must be called repeatedly.

        It cancels again until the work has ended, because a cancellation that arrives before its
        statement is lost. It never cancels after the end, which would hit the next statement.
        """
        if time.monotonic() < self._due:
            return
        with self._lock:
            if self._end is None:
                self._cancel()

    def __enter__(self) -> None:
        """Starts the work."""

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the work.

        Raises:
            TargetError: With kind ``timeout``, if it took too long.
        """
        with self._lock:
            self._end = time.monotonic()
        if self._end < self._due:
            return
        passes = (
            not isinstance(error, DynoError)
            or isinstance(error, Interrupted)
            or error.kind == "connection_lost"
        )
        if error is None or not passes:
            limit = seconds_text(self._seconds)
            raise TargetError(
                f"Cancelled: it did not finish within {limit}.", kind="timeout"
            ) from error


def within(seconds: float | None, work: Callable[[], T], cancel: Callable[[], None]) -> T:
    """Runs ``work`` in another thread; Ctrl-C and the timeout cancel it.

    Raises:
        Interrupted: After Ctrl-C.
        TargetError: With kind ``timeout``, after the timeout.
        Exception: The exception of ``work``.
    """
    deadline = Deadline(seconds, cancel)

    def limited() -> T:
        with deadline:
            return work()

    return interruptible(limited, cancel, deadline.expire)

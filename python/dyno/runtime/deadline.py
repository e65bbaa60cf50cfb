"""A time limit for work on a session."""

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
    """The time of one piece of work, which another thread watches.

    A context manager round the work. Leaving it raises ``TargetError`` with kind ``timeout`` if
    the work took too long, in the place of what the database made of it.
    """

    def __init__(self, seconds: float | None, cancel: Callable[[], None]) -> None:
        """Begins now.

        Args:
            seconds: How long the work may take; None for as long as it likes.
            cancel: Stops the work; called from the thread that watches.
        """
        self._seconds = math.inf if seconds is None else seconds
        self._due = time.monotonic() + self._seconds
        self._cancel = cancel
        self._end: float | None = None
        self._lock = threading.Lock()

    def expire(self) -> None:
        """Cancels work that has taken too long. To be called every now and then.

        And again, until the work has ended: a cancellation that arrives before its statement is
        lost. None is sent once it has ended: it would hit the statement after it.
        """
        if time.monotonic() < self._due:
            return
        with self._lock:
            if self._end is None:
                self._cancel()

    def __enter__(self) -> None:
        """The work begins."""

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The work has ended.

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
    """Runs ``work`` in another thread, cancelled by Ctrl-C and once it takes too long.

    Raises:
        Interrupted: After Ctrl-C.
        TargetError: With kind ``timeout``, if it did.
        Exception: What ``work`` raised.
    """
    deadline = Deadline(seconds, cancel)

    def limited() -> T:
        with deadline:
            return work()

    return interruptible(limited, cancel, deadline.expire)

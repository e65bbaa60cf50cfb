"""Counts the user's repeated interrupts; polite waits then switch to a quicker way."""

from __future__ import annotations

import threading
import time

_POLL_S = 0.1

_asked = 0


def ask() -> None:
    """Counts one more interrupt; may be called from a signal handler."""
    global _asked  # noqa: PLW0603  (a process has one user)
    _asked += 1


def count() -> int:
    """The number of repeated interrupts."""
    return _asked


def patient_wait(event: threading.Event, timeout_s: float) -> bool:
    """Waits for an event, until the timeout or another interrupt by the user.

    Returns:
        Whether the event is set.
    """
    before = _asked
    deadline = time.monotonic() + timeout_s
    while not event.is_set() and _asked == before:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        event.wait(min(left, _POLL_S))
    return event.is_set()

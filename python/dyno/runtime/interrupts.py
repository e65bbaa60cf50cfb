"""How often the user has asked again for an end: who waits politely then goes the quicker way."""

from __future__ import annotations

import threading
import time

_POLL_S = 0.1

_asked = 0


def ask() -> None:
    """Notes that the user asked once more; may be called from a signal handler."""
    global _asked  # noqa: PLW0603  (a process has one user)
    _asked += 1


def count() -> int:
    """How often that was."""
    return _asked


def patient_wait(event: threading.Event, timeout_s: float) -> bool:
    """Waits for an event, until the time is over or the user asks once more.

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

"""A common start for concurrent work, and a common end."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dyno.errors import Interrupted
from dyno.runtime.engine_calls import Beside, Handle

_POLL_S = 0.1
_SOON_S = 0.001


def at_once(beside: Beside | None) -> Beside:
    """Lets engines that are held back begin once all are ready, and then runs ``beside``."""

    def work(handle: Handle, ended: threading.Event) -> None:
        if _is_ready(handle, ended):
            handle.release()
            if beside is not None:
                beside(handle, ended)

    return work


def _is_ready(handle: Handle, ended: threading.Event) -> bool:
    """Waits until an engine is ready. Returns False if it ended before, because it failed."""
    while not handle.ready:
        if ended.wait(_SOON_S):
            return False
    return True


class Gate:
    """Opens once all work that is still expected waits at it."""

    def __init__(self, count: int) -> None:
        """Expects ``count`` to wait."""
        self._missing = count
        self._changed = threading.Condition()

    def wait(self, stop: threading.Event) -> None:
        """Waits until the gate is open, or ``stop`` is set."""
        self.leave()
        with self._changed:
            while self._missing > 0 and not stop.is_set():
                self._changed.wait(_POLL_S)

    def leave(self) -> None:
        """Expects one less: it waits now, or failed before the start."""
        with self._changed:
            self._missing -= 1
            self._changed.notify_all()


class Start:
    """One work's place at the gate, and how others stop it."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._cancels: list[Callable[[], None]] = []
        self._passed = False

    def ready(self, cancel: Callable[[], None] | None = None) -> None:
        """Waits for the common start. ``cancel`` stops the work afterwards.

        Raises:
            Interrupted: If the work was cancelled before.
        """
        if cancel is not None:
            self._on_cancel(cancel)
        self._passed = True
        self._gate.wait(self._stop)
        self.check()

    def beside(self, handle: Handle, ended: threading.Event) -> None:
        """Holds an engine back until the common start, and lets others stop it."""
        self._on_cancel(handle.cancel)
        if not _is_ready(handle, ended):
            return
        self._passed = True
        self._gate.wait(self._stop)
        handle.release()
        ended.wait()

    def ended(self) -> None:
        """Lets the others start without this work, if it failed before the start."""
        if not self._passed:
            self._passed = True
            self._gate.leave()

    def cancel(self) -> None:
        """Stops the work. Any thread may call this, more than once."""
        with self._lock:
            self._stop.set()
            cancels = list(self._cancels)
        for cancel in cancels:
            cancel()

    def check(self) -> None:
        """Raises if the work was cancelled.

        Raises:
            Interrupted: If so.
        """
        if self._stop.is_set():
            raise Interrupted("Interrupted.")

    def _on_cancel(self, cancel: Callable[[], None]) -> None:
        with self._lock:
            self._cancels.append(cancel)
            stopped = self._stop.is_set()
        if stopped:
            cancel()

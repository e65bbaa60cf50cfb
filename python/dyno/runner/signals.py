"""Ctrl-C, SIGTERM and SIGHUP: the first signal ends the work, more signals speed up the end."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from types import FrameType
from typing import Any

from dyno.runtime import interrupts

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FIRST = b"\ndyno: Stopping ... (once more: stops a server at once)\n"
_AGAIN = b"\ndyno: Stopping at once ...\n"
_STDERR = 2


class Signals:
    """A context in which the first signal raises KeyboardInterrupt, but only during the work.

    A signal before the work is deferred to its start. A signal after the work, while the record is
    being closed, has no effect. Signals that were ignored at startup (``nohup``) remain ignored.
    """

    def __init__(self) -> None:
        self._working = False
        self._pending = False
        self._warned = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Signals:
        """Installs the signal handlers, which Python allows only in the main thread."""
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in _NUMBERS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *exc: object) -> None:
        """Restores the previous handlers."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def begin_work(self) -> None:
        """Enables signals.

        Raises:
            KeyboardInterrupt: If a signal arrived earlier.
        """
        self._working = True
        if self._pending:
            self._working = False
            raise KeyboardInterrupt

    def end_work(self) -> None:
        """Disables signals."""
        self._working = False

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        # Not ``print``: the handler may have interrupted one.
        with contextlib.suppress(OSError):  # the terminal may be closed
            os.write(_STDERR, _AGAIN if self._warned else _FIRST)
        if self._warned:
            interrupts.ask()
        self._warned = self._pending = True
        if self._working:
            self._working = False
            raise KeyboardInterrupt

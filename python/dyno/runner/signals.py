"""Ctrl-C, SIGTERM and a closed terminal: the first ends the work, further ones hurry its end."""

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
    """A context in which the first signal raises KeyboardInterrupt, but only at work.

    One before the work is kept for its beginning; one after it, while the record of the work is
    being closed, changes nothing. Signals that were ignored when Dyno started (``nohup``) stay so.
    """

    def __init__(self) -> None:
        self._working = False
        self._pending = False
        self._told = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Signals:
        """Takes the signals over; in another thread than the first none can be."""
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in _NUMBERS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *exc: object) -> None:
        """Gives them back."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def begin_work(self) -> None:
        """From now on a signal raises.

        Raises:
            KeyboardInterrupt: If one came before.
        """
        self._working = True
        if self._pending:
            self._working = False
            raise KeyboardInterrupt

    def end_work(self) -> None:
        """From now on no signal raises."""
        self._working = False

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        # Not print: the handler may have struck inside of one.
        with contextlib.suppress(OSError):  # the terminal may be gone
            os.write(_STDERR, _AGAIN if self._told else _FIRST)
        if self._told:
            interrupts.ask()
        self._told = self._pending = True
        if self._working:
            self._working = False
            raise KeyboardInterrupt

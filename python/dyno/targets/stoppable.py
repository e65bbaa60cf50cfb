"""Long statements after a load that can be cancelled."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator

from dyno.contracts.target import Connection
from dyno.errors import Interrupted, TargetError

_POLL_S = 0.1


@contextlib.contextmanager
def stoppable(session: Connection, stop: threading.Event, message: str) -> Generator[None]:
    """Cancels the running statement of the ``with`` block when ``stop`` is set.

    Raises:
        Interrupted: With ``message``, if ``stop`` was set.
    """
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_S):
            if stop.is_set():
                session.cancel()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except TargetError as error:
        if not stop.is_set():
            raise
        raise Interrupted(message) from error
    finally:
        ended.set()
        watcher.join()
    if stop.is_set():
        raise Interrupted(message)

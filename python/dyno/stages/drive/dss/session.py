"""A stream's session: each statement has a deadline, and a lost connection is opened again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from dyno.contracts.meter import QueryMeter
from dyno.contracts.target import Connection
from dyno.errors import DynoError, TargetError
from dyno.runtime.deadline import Deadline

PATIENCE_S = 20.0
"""How long a server that dropped a session is waited for: one that recovers from the crash of one
of its processes is back within seconds."""

_MAY_PASS = {"unreachable", "too_many_connections"}
_RETRY_S = 0.25


class Session:
    """One connection of a stream, used by one thread; others may only call :meth:`cancel`."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        stop: threading.Event,
        patience_s: float = PATIENCE_S,
        metered: Callable[[Connection], QueryMeter] | None = None,
    ) -> None:
        """Connects.

        Args:
            connect: Opens a connection.
            stop: Set once the run shall end: nothing is waited for any more.
            patience_s: For how long to try to get a lost connection back.
            metered: Makes the meter for the queries of a connection.

        Raises:
            TargetError: If it cannot.
        """
        self._connect, self._stop, self._patience_s = connect, stop, patience_s
        self._metered = metered
        self._meter: tuple[Connection, QueryMeter] | None = None
        self.connection = connect()
        self._deadline: Deadline | None = None

    @property
    def meter(self) -> QueryMeter | None:
        """The meter of this connection, made when it is first asked for."""
        if self._metered is None:
            return None
        if self._meter is None or self._meter[0] is not self.connection:
            self._meter = self.connection, self._metered(self.connection)
        return self._meter[1]

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Work on the connection that may take so long; :meth:`expire` cancels it after that.

        Raises:
            TargetError: With kind ``timeout``, in the place of what the database made of it.
        """
        self._deadline = Deadline(seconds, self.cancel)
        return self._deadline

    def expire(self) -> None:
        """Cancels work that has taken too long. To be called every now and then, by one thread."""
        if self._deadline is not None:
            self._deadline.expire()

    def revive(self) -> None:
        """After an error: makes sure that the session works, on a new connection if it must be.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is gone for good.
        """
        if self._answers():
            return
        self.connection.close()
        give_up = time.monotonic() + self._patience_s
        while not self._stop.is_set():
            try:
                self.connection = self._connect()
            except DynoError as error:
                if error.kind not in _MAY_PASS or time.monotonic() >= give_up:
                    raise TargetError(str(error), kind="connection_lost") from error
                self._stop.wait(_RETRY_S)
            else:
                if self._answers():
                    return
                self.connection.close()
                if time.monotonic() >= give_up:
                    raise TargetError(
                        "The server takes sessions but answers none.", kind="connection_lost"
                    )

    def exchange(self, change: Callable[[Connection], Connection]) -> None:
        """Goes on with the connection that ``change`` makes of this one."""
        self.connection = change(self.connection)

    def cancel(self) -> None:
        """Stops the statement under way; may be called from another thread."""
        self.connection.cancel()

    def close(self) -> None:
        """Ends the session."""
        self.connection.close()

    def _answers(self) -> bool:
        try:
            self.connection.execute("SELECT 1")
        except DynoError as error:
            # A cancellation that came too late for its own statement hits this one.
            return error.kind == "timeout"
        return True

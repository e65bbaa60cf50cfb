"""The session of a stream: each statement has a deadline, and a lost connection is reopened."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from dyno.bundle.model import Clock
from dyno.contracts.meter import QueryMeter
from dyno.contracts.target import Connection
from dyno.errors import DynoError, TargetError
from dyno.runtime.deadline import Deadline
from dyno.stages.drive.dss.freshness import Row, Watch

PATIENCE_S = 20.0
"""Time to wait for a server that dropped a session.

A server that recovers from the crash of one of its processes is back within seconds.
"""

_MAY_PASS = {"unreachable", "too_many_connections"}
_RETRY_S = 0.25


class Session:
    """The connection of a stream, used by one thread. Others may only call :meth:`cancel`."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        stop: threading.Event,
        patience_s: float = PATIENCE_S,
        metered: Callable[[Connection], QueryMeter] | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Connects to the target.

        Args:
            connect: Opens a connection.
            stop: Set when the run must end. All waits then end.
            patience_s: How long to retry a lost connection.
            metered: Creates the meter for the queries of a connection.
            watch: Measures which transactions a query sees.

        Raises:
            TargetError: If the connection fails.
        """
        self._connect, self._stop, self._patience_s = connect, stop, patience_s
        self._metered, self._watch = metered, watch
        self._meter: tuple[Connection, QueryMeter] | None = None
        self.connection = connect()
        self._deadline: Deadline | None = None

    @property
    def meter(self) -> QueryMeter | None:
        """The meter of this connection, created on first use."""
        if self._metered is None:
            return None
        if self._meter is None or self._meter[0] is not self.connection:
            self._meter = self.connection, self._metered(self.connection)
        return self._meter[1]

    def fresh(self, clock: Clock) -> Row:
        """Which transactions the next query sees, as columns for the table of queries."""
        return {} if self._watch is None else self._watch.before(self.connection, clock)

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Limits work on the connection to ``seconds``; :meth:`expire` cancels it after that.

        Raises:
            TargetError: With kind ``timeout``, in place of the error of the database.
        """
        self._deadline = Deadline(seconds, self.cancel)
        return self._deadline

    def expire(self) -> None:
        """Cancels work that exceeds its deadline. One thread calls this periodically."""
        if self._deadline is not None:
            self._deadline.expire()

    def revive(self) -> None:
        """Checks the session after an error and reconnects if necessary.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is permanently gone.
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
        """Replaces the connection with the result of ``change``."""
        self.connection = change(self.connection)

    def cancel(self) -> None:
        """Cancels the running statement. Other threads may call this."""
        self.connection.cancel()

    def close(self) -> None:
        """Closes the session."""
        self.connection.close()

    def _answers(self) -> bool:
        try:
            self.connection.execute("SELECT 1")
        except DynoError as error:
            # A late cancellation of the previous statement can hit this one.
            return error.kind == "timeout"
        return True

"""A probe that asks a server in a session of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from dyno.contracts.probe import Sample
from dyno.contracts.target import Connection
from dyno.errors import DynoError

Session = TypeVar("Session", bound=Connection)


class SessionProbe(Generic[Session]):
    """See the protocol. Its session opens with its first reading, and anew after one that failed.

    The first reading is due a period after it has joined: by then the users of a level have their
    sessions, so that it takes none from them.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], Session],
        ask: Callable[[Session], Sequence[Sample]],
        period_s: float = 1.0,
        deadline_s: float = 5.0,
    ) -> None:
        self.name = name
        self.period_s, self.deadline_s = period_s, deadline_s
        self._connect, self._ask = connect, ask
        self._session: Session | None = None

    def read(self, now_ns: int) -> Sequence[Sample]:  # noqa: ARG002  (the server counts)
        """What the server says.

        Raises:
            DynoError: If it cannot be asked.
        """
        if self._session is None:
            self._session = self._connect()
        try:
            return self._ask(self._session)
        except DynoError:
            self.close()
            raise

    def close(self) -> None:
        """Ends the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

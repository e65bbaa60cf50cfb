"""A probe that queries a server in its own session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from dyno.contracts.probe import Sample
from dyno.contracts.target import Connection
from dyno.errors import DynoError

Session = TypeVar("Session", bound=Connection)


class SessionProbe(Generic[Session]):
    """Implements the protocol. A reading opens the session if necessary.

    The first reading comes one period after the probe joins. By then all users have their sessions,
    so the probe takes none from them.
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
        """The samples of a reading.

        Raises:
            DynoError: If the server does not respond.
        """
        if self._session is None:
            self._session = self._connect()
        try:
            return self._ask(self._session)
        except DynoError:
            self.close()
            raise

    def close(self) -> None:
        """Closes the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

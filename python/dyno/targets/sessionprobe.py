"""A probe that queries a server in its own session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dyno.contracts.probe import Sample
from dyno.contracts.target import Connection
from dyno.errors import DynoError

Session = TypeVar("Session", bound=Connection)

Ask = Callable[[Session, int], Sequence[Sample]]
"""Reads samples in a session, at a time of the monotonic clock in ns."""

_FIRST_S = 1.0
_SHARE = 0.01
"""The share of a core that frequent readings may take."""


@dataclass(frozen=True)
class Asked(Generic[Session]):
    """A probe of a server product.

    Attributes:
        make: Returns a reader with its own state, such as the previous counters.
        period_s: Time between two readings.
        deadline_s: Timeout of a reading.
    """

    make: Callable[[], Ask[Session]]
    period_s: float = 1.0
    deadline_s: float = 5.0


class Budget:
    """Leaves out readings, so that frequent ones take at most a hundredth of a core.

    With many sessions a reading costs more, and fewer of them are as precise.
    """

    def __init__(self, period_s: float) -> None:
        """Leaves out none at first.

        Args:
            period_s: Time between two readings.
        """
        self._period_s = period_s
        self._left_out = 0

    def allows(self) -> bool:
        """Whether the next reading may be done; counts it if not."""
        self._left_out -= 1
        return self._left_out < 0

    def spend(self, cpu_s: float, rest: int = 0) -> None:
        """Counts the CPU time of a reading; leaves out at least ``rest`` of the next ones."""
        self._left_out = max(rest, int(cpu_s / (_SHARE * self._period_s)))


class SessionProbe(Generic[Session]):
    """Implements the protocol. A reading opens the session if necessary.

    The first session is opened one second after the probe joins. By then all users have theirs, so
    the probe takes none from them.
    """

    def __init__(self, name: str, connect: Callable[[], Session], asked: Asked[Session]) -> None:
        self.name = name
        self.period_s, self.deadline_s = asked.period_s, asked.deadline_s
        self._connect, self._ask = connect, asked.make()
        self._session: Session | None = None
        self._early = round(_FIRST_S / asked.period_s) - 1

    def read(self, now_ns: int) -> Sequence[Sample]:
        """The samples of a reading.

        Raises:
            DynoError: If the server does not respond.
        """
        if self._early > 0:
            self._early -= 1
            return ()
        if self._session is None:
            self._session = self._connect()
        try:
            return self._ask(self._session, now_ns)
        except DynoError:
            self.close()
            raise

    def close(self) -> None:
        """Closes the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

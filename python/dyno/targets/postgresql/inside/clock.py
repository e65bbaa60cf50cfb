"""The offset of the server's clock, from round trips."""

from __future__ import annotations

import time

from dyno.bundle.model import Clock
from dyno.contracts.probe import Sample
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import rows

SOURCE = "clock"

_EVERY = 30
_ROUND_TRIPS = 8
_QUESTION = "SELECT extract(epoch FROM clock_timestamp())::float8 AS at"


class ServerClock:
    """Measures at the first reading in a session and at every thirtieth from then on.

    Samples: ``offset`` (s), the server's clock minus this machine's; ``bound`` (s), its largest
    error: half of the shortest of several round trips. This machine's clock is read once, and the
    monotonic clock carries it on, so a step of it does not appear as one of the server's.
    """

    def __init__(self) -> None:
        self._clock = Clock.now()
        self._session: PostgresConnection | None = None
        self._readings = 0

    def __call__(self, session: PostgresConnection, now_ns: int) -> list[Sample]:  # noqa: ARG002
        """The offset and its bound, if they are due."""
        if session is not self._session:
            self._session, self._readings = session, 0
        due = self._readings % _EVERY == 0
        self._readings += 1
        if not due:
            return []
        trip_s, offset_s = min(self._round_trip(session) for _ in range(_ROUND_TRIPS))
        return [
            Sample(SOURCE, "postgresql", "offset", offset_s, "s"),
            Sample(SOURCE, "postgresql", "bound", trip_s / 2, "s"),
        ]

    def _round_trip(self, session: PostgresConnection) -> tuple[float, float]:
        """The time of a round trip, and the offset if both ways took half of it."""
        sent_ns = time.monotonic_ns()
        (row,) = rows(session, _QUESTION)
        trip_ns = time.monotonic_ns() - sent_ns
        middle_ns = self._clock.unix_ns + sent_ns - self._clock.monotonic_ns + trip_ns // 2
        return trip_ns / 1e9, row["at"] - middle_ns / 1e9

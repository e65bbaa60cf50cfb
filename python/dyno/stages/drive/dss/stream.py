"""One stream: runs its queries in order and continues after errors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dyno.bundle.model import Clock
from dyno.contracts.target import Connection
from dyno.stages.drive.dss.query import Outcome, Task, run_query
from dyno.stages.drive.dss.session import Session


@dataclass(frozen=True)
class Stream:
    """A user: a session and the query timeout."""

    session: Session
    clock: Clock
    target: str
    timeout_s: float
    stop: threading.Event

    def run(
        self,
        tasks: Iterable[Task],
        ended: Callable[[Task, Outcome], None],
        before: Callable[[Connection], Connection] | None = None,
        *,
        warming: bool = False,
    ) -> None:
        """Runs the queries and calls ``ended`` after each.

        ``before`` may replace the connection before each query, outside the measured time. With
        ``warming`` the times are not results.

        A failed query is an outcome, and the stream continues, on a new connection if the old one
        broke. After ``stop`` is set no query starts, and cancelled queries are not outcomes.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is permanently gone.
        """
        for task in tasks:
            if self.stop.is_set():
                return
            if before is not None:
                self.session.exchange(before)
            fresh = self.session.fresh(self.clock)
            outcome = run_query(
                self.session, task, self.clock, self.target, self.timeout_s, warming=warming
            )
            outcome.row.update(fresh)
            if outcome.cancelled(self.stop):
                return
            ended(task, outcome)
            if outcome.error is not None:
                self.session.revive()

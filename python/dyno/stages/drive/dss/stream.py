"""One stream: its queries one after another in its order, whatever becomes of each."""

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
    """A user: a session, and how long a query may take."""

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
        """Runs the queries; ``ended`` is told of each at once.

        ``before`` each, off the clock, the connection may be exchanged for another. ``warming``
        is whether their times are not a result.

        A query that fails is an outcome, and the stream goes on: on a new connection if the
        failure broke its own. Once ``stop`` is set no query is begun, and what was cancelled is
        no outcome.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is gone for good.
        """
        for task in tasks:
            if self.stop.is_set():
                return
            if before is not None:
                self.session.exchange(before)
            outcome = run_query(
                self.session, task, self.clock, self.target, self.timeout_s, warming=warming
            )
            if outcome.cancelled(self.stop):
                return
            ended(task, outcome)
            if outcome.error is not None:
                self.session.revive()

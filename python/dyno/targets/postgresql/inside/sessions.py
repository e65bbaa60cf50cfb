"""Active sessions by wait event, sampled ten times a second."""

from __future__ import annotations

from collections import Counter

from dyno.bundle.inside import SESSIONS
from dyno.contracts.probe import Sample
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import NAME, rows
from dyno.targets.postgresql.inside.waits import RUNNING, metric
from dyno.targets.sessionprobe import Budget

PERIOD_S, DEADLINE_S = 0.1, 1.0

_MEAN_NS = 1_000_000_000
_READINGS = round(1 / PERIOD_S)

# The function, because the view joins two catalogs. Background processes, such as the autovacuum,
# are no sessions; what they do shows in the counters of the database.
_QUESTION = f"""SELECT wait_event_type AS kind, wait_event AS event, count(*)::int AS processes,
(count(*) FILTER (WHERE state IN ('active', 'fastpath function call')
AND backend_type IN ('client backend', 'parallel worker')
AND application_name <> '{NAME}'))::int AS sessions
FROM pg_stat_get_activity(NULL) GROUP BY 1, 2"""  # noqa: S608  (fixed names)

_PROCESS_S = 3.5e-6
"""CPU time of the server for each of its processes in a reading. An upper estimate: with 1,000 of
them, all probes took 3.5 % of a core."""


class Sessions:
    """Adds up readings, and returns their mean once a second.

    A role without ``pg_read_all_stats`` sees the sessions of its own role only. The first reading
    in a session is returned at once, so that a broken session loses no reading.
    """

    def __init__(self) -> None:
        self._session: PostgresConnection | None = None
        self._began_ns = 0
        self._due = self._readings = 0
        self._budget = Budget(PERIOD_S)
        self._seen: Counter[str] = Counter()

    def __call__(self, session: PostgresConnection, now_ns: int) -> list[Sample]:
        """The mean number of active sessions by event since the previous samples."""
        self._due += 1
        if self._budget.allows():
            self._read(session)
        first, self._session = session is not self._session, session
        late = now_ns - self._began_ns >= _MEAN_NS
        if not self._readings or not (first or late or self._due >= _READINGS):
            return []
        means = {name: count / self._readings for name, count in self._seen.items()}
        self._seen.clear()
        self._due, self._readings, self._began_ns = 0, 0, now_ns
        return [
            Sample(SESSIONS, "postgresql", name, value, "count")
            for name, value in (means or {RUNNING: 0.0}).items()
        ]

    def _read(self, session: PostgresConnection) -> None:
        processes = 0
        for row in rows(session, _QUESTION):
            processes += row["processes"]
            if row["sessions"]:
                self._seen[metric(row["kind"], row["event"])] += row["sessions"]
        self._readings += 1
        self._budget.spend(processes * _PROCESS_S)

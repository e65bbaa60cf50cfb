"""What Dyno observes inside a PostgreSQL: one file for each probe and concept."""

from __future__ import annotations

from dyno.bundle.inside import SESSIONS, SOURCE
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import clock, database, sessions
from dyno.targets.postgresql.inside.inspector import PostgresInspector
from dyno.targets.postgresql.inside.observer import prepared
from dyno.targets.sessionprobe import Asked

PROBES: dict[str, Asked[PostgresConnection]] = {
    SOURCE: Asked(
        prepared(database.Database, database.DEADLINE_S), database.PERIOD_S, database.DEADLINE_S
    ),
    SESSIONS: Asked(
        prepared(sessions.Sessions, sessions.DEADLINE_S), sessions.PERIOD_S, sessions.DEADLINE_S
    ),
    clock.SOURCE: Asked(prepared(clock.ServerClock, 5.0)),
}
INSPECTOR = PostgresInspector

"""What Dyno observes inside a PostgreSQL: one file for each probe and concept."""

from __future__ import annotations

from dyno.bundle.inside import SESSIONS, SOURCE
from dyno.targets import clockoffset
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import database, sessions
from dyno.targets.postgresql.inside.inspector import PostgresInspector
from dyno.targets.postgresql.inside.observer import prepared, rows
from dyno.targets.sessionprobe import Asked


def server_time(session: PostgresConnection) -> float:
    """Seconds since the Unix epoch on the server's clock."""
    (row,) = rows(session, "SELECT extract(epoch FROM clock_timestamp())::float8 AS at")
    return row["at"]


_CLOCK = clockoffset.asked("postgresql", server_time)

PROBES: dict[str, Asked[PostgresConnection]] = {
    SOURCE: Asked(
        prepared(database.Database, database.DEADLINE_S), database.PERIOD_S, database.DEADLINE_S
    ),
    SESSIONS: Asked(
        prepared(sessions.Sessions, sessions.DEADLINE_S), sessions.PERIOD_S, sessions.DEADLINE_S
    ),
    clockoffset.SOURCE: Asked(prepared(_CLOCK.make, _CLOCK.deadline_s)),
}
INSPECTOR = PostgresInspector

LACKS: dict[str, str] = {}
"""What it does not report, with the reason."""

NOTES = (
    "counters once a second and sessions ten times a second, of the whole server; dead rows, "
    "statements and tables of the connected database; versions 14 to 18. It counts neither waits "
    "for locks nor its memory",
    "sessions and statements of other roles need `GRANT pg_read_all_stats TO role;`",
    "statements need `shared_preload_libraries = 'pg_stat_statements'`, a restart, `CREATE "
    "EXTENSION pg_stat_statements;` in the connected database, and USAGE on its schema; the "
    "private server does not have the extension",
    "the 20 most time-consuming statements have generic plans, for unknown values of their "
    "parameters. Dyno prepares and explains them after the phase, read-only and with a timeout of "
    "2 s, and executes nothing. Only statements that Dyno's role or a superuser has run are "
    "planned, since planning calls functions with the rights of Dyno's role; utility statements "
    "have no plans",
    "the times of log writes and flushes need `track_wal_io_timing = on`, which the private "
    "server has",
    "the size of temporary files in use needs `GRANT EXECUTE ON FUNCTION pg_ls_dir(text, boolean, "
    "boolean), pg_stat_file(text, boolean) TO role;` in the connected database",
    "a session reports its counters when a transaction ends, at most once a second, so the work "
    "of a long statement appears at its end. Dyno never resets the counters: the shortest and the "
    "longest time of a statement may date from before the run",
)
"""Rights that it needs, and what its values mean; for docs/targets.md."""

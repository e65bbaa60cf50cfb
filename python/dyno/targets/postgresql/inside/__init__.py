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

OBSERVED = """\
Versions 14 to 18. Once a second: hit ratio, logical and physical reads, writes, the log with its
writes and flushes, checkpoint writes, temporary files, locks, deadlocks, connections, commits and
rollbacks of the whole server; every ten seconds the dead rows of the connected database. Ten times a
second: active sessions and parallel workers by wait event, as a mean per second. At the ends of a
phase: statements of the connected database, and reads, changed rows and sizes of its tables and
indexes. At the start of a phase and every half minute: the offset of the server's clock.

| observed | needs |
|---|---|
| sessions and statements of other roles | `GRANT pg_read_all_stats TO role;` |
| statements | `shared_preload_libraries = 'pg_stat_statements'`, a restart, and `CREATE EXTENSION pg_stat_statements;` in the connected database; `USAGE` on its schema. The private server does not have it. |
| mean times of log writes and flushes | `track_wal_io_timing = on`, which the private server has |
| the size of temporary files in use | `GRANT EXECUTE ON FUNCTION pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean) TO role;` in the connected database |

A run names what it could not observe. PostgreSQL counts neither lock waits nor its
memory. Dyno never resets its counters. A session reports its counters when a transaction ends, at
most once a second: the work of a long statement appears at its end, and shortest and longest times
of a statement may be of an earlier period. Dyno's own sessions (`dyno observer`) are not among
the active ones."""  # noqa: E501  (rows of a table)
"""What is observed, as Markdown for docs/targets.md."""

"""What MariaDB and MySQL report about themselves during a run."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.bundle.inside import SESSIONS, SOURCE
from dyno.targets import clockoffset
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside import sessions, status
from dyno.targets.mysql.inside.statements import ALIAS
from dyno.targets.sessionprobe import Asked

NOTES = (
    "counters need no right. MariaDB counts no bytes of temporary files before 11.5 and no syncs "
    "of the log from 10.8 on. `commits` are COMMIT statements. InnoDB's history list is not "
    "`dead_rows`, since it counts transactions, not rows",
    "sessions of other users need PROCESS. By its process list, a server shows waits for commits "
    "(`log`), locks, temporary tables and the network; waits for data files count as `cpu`. With "
    "`performance_schema` and its consumer `events_waits_current` these are `data`, and latches "
    "are shown if the instruments `wait/synch/%` are on",
    "statements and tables need `performance_schema=ON` at the server's start and SELECT on it; "
    "rows by table alone also come from MariaDB's `userstat`. Rows are counted, not pages; "
    "for partitioned tables MariaDB counts only some, so these are unknown. Dyno resets no counter",
    "MySQL also has the plans of the 20 most time-consuming statements that read, by `EXPLAIN` "
    "of its samples of them (`QUERY_SAMPLE_TEXT`). It keeps no values of prepared statements, so "
    "these have no plan. MariaDB keeps no sample of a statement, and `EXPLAIN` refuses its digest, "
    "which has placeholders",
    "the private server leaves both off, because they cost more CPU time than observing may: in "
    "TPC-C with 4 users on 2 CPUs, `performance_schema` 9 % (standard error 2 %) and 160 MB, with "
    "statements alone 8 % (2 %), with waits for data files alone 3 % (2 %); `userstat` 8 % (2 %). "
    "With `--set table_counts=on` it counts rows by table, and nothing else",
    "the process list is read ten times a second while a session waits, and twice while none does: "
    "ten readings a second cost 4 % (95 % interval 3 to 6 %) of the point selects of 8 users that "
    "keep 2 CPUs busy, two cost 0.6 % (0.1 to 1.1 %)",
    "a server at a URL has samples of its clock's offset every half minute (source `clock`)",
)


def probes(target: str, *, private: bool) -> Mapping[str, Asked[MysqlConnection]]:
    """The probes of a server by name.

    Args:
        target: The subject of their samples.
        private: Whether the server is Dyno's own, on this machine's clock.
    """
    found = {
        SOURCE: Asked(lambda: status.reader(target)),
        SESSIONS: Asked(lambda: sessions.reader(target), sessions.PERIOD_S),
    }
    if not private:
        found[clockoffset.SOURCE] = clockoffset.asked(target, server_time)
    return found


def server_time(session: MysqlConnection) -> float:
    """Seconds since the Unix epoch on the server's clock."""
    return float(session.execute(f"SELECT UNIX_TIMESTAMP(SYSDATE(6)) AS {ALIAS}").rows[0][0])

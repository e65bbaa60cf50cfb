"""What SQL Server reports about itself during a run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from dyno.bundle.inside import CLERKS, FILES, SESSIONS, SOURCE, WAITS
from dyno.targets import clockoffset
from dyno.targets.sessionprobe import Asked
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside import clerks, files, sessions, status, waitstats
from dyno.targets.sqlserver.inside.views import OWN

LACKS: dict[str, str] = {}
"""What it does not report, with the reason."""

NOTES = (
    "all of it needs `USE master; GRANT VIEW SERVER STATE TO [login];`, and the roles of the files "
    "of other databases `GRANT VIEW ANY DEFINITION TO [login];`",
    "tested against recorded rows and Babelfish 4.3, which lacks these views; not yet against SQL "
    "Server",
    "`commits` are those that wrote. Rollbacks are not counted. `log_wait` is the mean WRITELOG "
    "wait of a commit, which includes the write. On Windows, writes to the log are durable when "
    "they end, so there are no syncs of the log. On Linux the server may sync its files: the wait "
    "PREEMPTIVE_OS_FLUSHFILEBUFFERS, of the class data",
    "waits are in two forms: active sessions, sampled ten times a second while a session waits "
    "and twice while none does (source `sessions`); and threads in waits that ended, as the server "
    "counts them (source `waits`), without those that wait for work",
    "requests, bytes and times of each file and of data, log and tempdb (source `files`); the "
    "largest consumers of memory every ten seconds (source `clerks`)",
    "statements are those in the plan cache at the end, with queries that differ only in literals "
    "as one. Reads of tables and indexes are scans begun and single rows looked up, not pages; "
    "those of a column store are the queries that used it; physical reads are waits for a page. "
    "Dyno resets no counter: the shortest and longest time of a statement may date from "
    "before the run",
)
"""Rights that it needs, and what its values mean; for docs/targets.md."""

_NOW = f"{OWN}SELECT CONVERT(varchar(27), SYSUTCDATETIME(), 126)"


def probes(target: str) -> Mapping[str, Asked[Session]]:
    """The probes of a server by name.

    Args:
        target: The subject of their samples.
    """
    return {
        SOURCE: Asked(lambda: status.reader(target)),
        SESSIONS: Asked(lambda: sessions.reader(target), sessions.PERIOD_S),
        WAITS: Asked(lambda: waitstats.reader(target)),
        FILES: Asked(lambda: files.reader(target)),
        CLERKS: Asked(lambda: clerks.reader(target), clerks.PERIOD_S),
        clockoffset.SOURCE: clockoffset.asked(target, server_time),
    }


def server_time(session: Session) -> float:
    """Seconds since the Unix epoch on the server's clock."""
    text = str(session.execute(_NOW).rows[0][0])
    whole, _, part = text.partition(".")  # up to seven digits of a second
    return datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp() + float(f"0.{part or 0}")

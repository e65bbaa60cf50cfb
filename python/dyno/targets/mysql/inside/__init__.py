"""What MariaDB and MySQL report about themselves during a run; ``docs/targets.md`` lists it."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.bundle.inside import SESSIONS, SOURCE
from dyno.targets import clockoffset
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside import sessions, status
from dyno.targets.sessionprobe import Asked


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
    return float(session.execute("SELECT UNIX_TIMESTAMP(SYSDATE(6))").rows[0][0])

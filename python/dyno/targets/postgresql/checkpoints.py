"""The number of checkpoints, from the server's cumulative counters."""

from __future__ import annotations

from dyno.contracts import checkpoints
from dyno.contracts.probe import Sample
from dyno.targets.postgresql.connection import PostgresConnection

_COUNTERS = (
    (170000, "pg_stat_checkpointer", "num_timed + num_requested"),
    (0, "pg_stat_bgwriter", "checkpoints_timed + checkpoints_req"),
)
_SETTING = "checkpoint_timeout"


def read(session: PostgresConnection, now_ns: int) -> list[Sample]:  # noqa: ARG001
    """The current counters of timed and requested checkpoints."""
    version = session.raw.info.server_version
    view, count = next(names for oldest, *names in _COUNTERS if version >= oldest)
    row = session.execute(
        f"SELECT {count}, setting::float FROM {view}, pg_settings "  # noqa: S608  (fixed names)
        f"WHERE name = '{_SETTING}'"
    ).rows[0]
    return checkpoints.samples("postgresql", int(row[0]), _SETTING, float(row[1]))

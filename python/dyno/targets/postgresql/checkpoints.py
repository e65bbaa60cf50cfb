"""The number of checkpoints, from the server's cumulative counters."""

from __future__ import annotations

from dyno.contracts import checkpoints
from dyno.contracts.probe import Sample
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import rows

_COUNTERS = (
    (170000, "pg_stat_checkpointer", "num_timed + num_requested"),
    (0, "pg_stat_bgwriter", "checkpoints_timed + checkpoints_req"),
)
_SETTING = "checkpoint_timeout"


def read(session: PostgresConnection, now_ns: int) -> list[Sample]:  # noqa: ARG001
    """The current counters of timed and requested checkpoints."""
    version = session.raw.info.server_version
    view, count = next(names for oldest, *names in _COUNTERS if version >= oldest)
    question = (
        f"SELECT {count} AS begun, setting::float8 AS most_s "  # noqa: S608  (fixed names)
        f"FROM {view}, pg_settings WHERE name = '{_SETTING}'"
    )
    (row,) = rows(session, question)
    return checkpoints.samples("postgresql", row["begun"], _SETTING, row["most_s"])

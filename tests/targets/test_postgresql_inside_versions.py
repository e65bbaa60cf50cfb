"""The counters of versions that are not installed here: their views, rebuilt in a schema.

The columns are those of the release's manual, "The Cumulative Statistics System" (version 14: "The
Statistics Collector"). The statement for a version runs against them, so an unknown column fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from dyno.errors import DynoError
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.counters import GROWING, question
from dyno.targets.postgresql.inside.observer import rows
from dyno.targets.postgresql.target import PostgresTarget
from tests.targets.conftest import ask

_WAL = "wal_records wal_fpi wal_bytes wal_buffers_full"
_WAL_IO = "wal_write wal_sync wal_write_time wal_sync_time"
_CHECKPOINTS = (
    "checkpoints_timed checkpoints_req checkpoint_write_time checkpoint_sync_time "
    "buffers_checkpoint buffers_clean maxwritten_clean buffers_backend buffers_backend_fsync "
    "buffers_alloc"
)
_IO = (
    "reads read_time writes write_time writebacks writeback_time extends extend_time op_bytes "
    "hits evictions reuses fsyncs fsync_time"
)
_CHECKPOINTER = (
    "num_timed num_requested restartpoints_timed restartpoints_req restartpoints_done write_time "
    "sync_time buffers_written"
)
_OF_14 = {"pg_stat_wal": f"{_WAL} {_WAL_IO}", "pg_stat_bgwriter": _CHECKPOINTS}
_OF_16 = {**_OF_14, "pg_stat_io": _IO}
VERSIONS = {
    140000: _OF_14,
    150000: _OF_14,
    160000: _OF_16,
    170000: {
        **_OF_16,
        "pg_stat_bgwriter": "buffers_clean maxwritten_clean buffers_alloc",
        "pg_stat_checkpointer": _CHECKPOINTER,
    },
}
VIEWS = {view for views in VERSIONS.values() for view in views}
"""Views of a version that lacks one of them have no columns here."""

VALUES = {
    "buffers_checkpoint": 11, "buffers_written": 11, "buffers_clean": 2, "buffers_backend": 3,
    "writes": 16, "op_bytes": 8192, "wal_bytes": 400, "wal_write": 5, "wal_write_time": 1.5,
    "wal_sync": 4, "wal_sync_time": 2.5,
}  # fmt: skip


@pytest.fixture
def session(postgres: PostgresTarget) -> Iterator[PostgresConnection]:
    ask(postgres, "DROP SCHEMA IF EXISTS earlier CASCADE")
    ask(postgres, "CREATE SCHEMA earlier")
    with closing(postgres.connect()) as opened:
        yield opened
    ask(postgres, "DROP SCHEMA earlier CASCADE")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_statement_of_a_version_needs_only_its_columns(
    session: PostgresConnection, version: int
) -> None:
    for view in VIEWS:
        named = VERSIONS[version].get(view, "").split()
        columns = [f"{VALUES.get(name, 7)}::float8 AS {name}" for name in named]
        columns += ["'2026-01-02'::timestamptz AS stats_reset"] * bool(named)
        session.execute(f"CREATE VIEW earlier.{view} AS SELECT {', '.join(columns)}")
    session.execute("SET search_path = earlier, pg_catalog")
    later = [one for one in (*VERSIONS, 180000) if VERSIONS.get(one) != VERSIONS[version]]
    for other in (one for one in later if one > version):
        with pytest.raises(DynoError, match="does not exist"):
            rows(session, question(other))
    (row,) = rows(session, question(version))
    assert set(GROWING) <= set(row)
    page = row["page_bytes"]
    assert row["checkpoint_writes"] == 11
    assert row["written_bytes"] == (16 * 8192 if version >= 160000 else (11 + 2 + 3) * page)
    assert row["log_bytes"] == 400
    assert (row["log_writes"], row["log_write_ms"]) == (5, 1.5)
    assert (row["log_flushes"], row["log_flush_ms"]) == (4, 2.5)
    assert row["of_writes"].startswith("2026-01-02")

"""The counters that describe a server, read with one statement, by version.

All are of the whole server, except for the dead rows of the connected database.
"""

from __future__ import annotations

_DATABASES = """(SELECT sum(blks_hit) AS hits, sum(blks_read) AS physical_reads,
    sum(temp_files) AS temp_files, sum(temp_bytes) AS temp_bytes, sum(deadlocks) AS deadlocks,
    sum(xact_commit) AS commits, sum(xact_rollback) AS rollbacks,
    sum(numbackends) AS connections, max(stats_reset) AS of_databases FROM pg_stat_database) d"""

_CHECKPOINTS = (
    (
        170000,
        "(SELECT buffers_written AS checkpoint_writes, stats_reset AS of_checkpoints "
        "FROM pg_stat_checkpointer) c",
    ),
    (
        0,
        "(SELECT buffers_checkpoint AS checkpoint_writes, stats_reset AS of_checkpoints "
        "FROM pg_stat_bgwriter) c",
    ),
)

# An extended file is not a write: it may only be allocated, and its pages are written later.
# Version 18 counts the writes of the log here, too; "init" is the creation of its files.
_WRITES = (
    (
        180000,
        "(SELECT sum(write_bytes) FILTER (WHERE object <> 'wal') AS written_bytes, "
        "sum(writes) FILTER (WHERE log) AS log_writes, "
        "sum(write_time) FILTER (WHERE log) AS log_write_ms, "
        "sum(fsyncs) FILTER (WHERE log) AS log_flushes, "
        "sum(fsync_time) FILTER (WHERE log) AS log_flush_ms, "
        "max(stats_reset) AS of_writes "
        "FROM (SELECT *, object = 'wal' AND context = 'normal' AS log FROM pg_stat_io) io) i",
    ),
    (
        160000,
        "(SELECT sum(writes * op_bytes) AS written_bytes, max(stats_reset) AS of_writes "
        "FROM pg_stat_io) i",
    ),
    (
        0,
        "(SELECT (buffers_checkpoint + buffers_clean + buffers_backend) "
        "* current_setting('block_size')::bigint AS written_bytes, "
        "stats_reset AS of_writes FROM pg_stat_bgwriter) i",
    ),
)

_LOG = (
    (180000, "(SELECT wal_bytes AS log_bytes, stats_reset AS of_log FROM pg_stat_wal) w"),
    (
        0,
        "(SELECT wal_bytes AS log_bytes, wal_write AS log_writes, wal_write_time AS log_write_ms, "
        "wal_sync AS log_flushes, wal_sync_time AS log_flush_ms, stats_reset AS of_log "
        "FROM pg_stat_wal) w",
    ),
)

GROWING = (
    "hits", "physical_reads", "temp_files", "temp_bytes", "deadlocks", "commits", "rollbacks",
    "checkpoint_writes", "written_bytes", "log_bytes", "log_writes", "log_write_ms", "log_flushes",
    "log_flush_ms",
)  # fmt: skip
"""Counters that only grow until they are reset."""

RESETS = ("of_databases", "of_checkpoints", "of_writes", "of_log")
"""When the counters were last reset, as text."""

_RESETS = ", ".join(f"{name}::text" for name in RESETS)


def question(version: int) -> str:
    """The statement for a ``server_version_num``.

    Its row has :data:`GROWING`, :data:`RESETS`, ``connections``, ``locks``, ``page_bytes``, and
    whether the log's times are measured (``timed``).
    """
    of_version = [
        next(text for oldest, text in texts if version >= oldest)
        for texts in (_CHECKPOINTS, _WRITES, _LOG)
    ]
    growing = ", ".join(f"{name}::float8" for name in GROWING)
    return (
        f"SELECT {growing}, {_RESETS}, connections::int, "  # noqa: S608  (fixed names)
        "(SELECT count(*) FROM pg_locks)::int AS locks, "
        "current_setting('block_size')::int AS page_bytes, "
        "current_setting('track_wal_io_timing')::bool AS timed "
        f"FROM {', '.join([_DATABASES, *of_version])}"
    )


DEAD_ROWS = """SELECT coalesce(sum(pg_stat_get_dead_tuples(oid)), 0)::float8 AS dead_rows
FROM pg_class WHERE relkind IN ('r', 'm', 't')"""

"""PostgreSQL in the terms of advice, and what advice reads of a live server."""

from __future__ import annotations

import re
from datetime import date

from dyno.contracts.advice import Dialect, Knob
from dyno.targets.postgresql.repartition import PARTITIONING
from dyno.targets.wording import among, mib, number, on_off, seconds, size, switch, whole, word

_WAL_LEVELS = ("replica", "logical")
# A commit that waits for a standby also waits for its own log.
_DURABLE = ("on", "local", "remote_write", "remote_apply")


def _assign(knob: Knob, value: str) -> tuple[str, ...]:
    then = "-- then restart the server" if knob.restart else "SELECT pg_reload_conf();"
    return (f"ALTER SYSTEM SET {knob.name} = '{value}';", then)


def _series(version: str) -> str:
    """``PostgreSQL 15`` of ``PostgreSQL 15.13 (Debian 15.13-0+deb12u1)``."""
    found = re.match(r"\w+ \d+", version)
    return found[0] if found else version


def _minutes(value: object) -> str:
    return f"{round(float(str(value)) / 60)}min"


DIALECT = Dialect(
    grammar="postgres",
    columnar="",
    partitioning=PARTITIONING,
    knobs={
        "cache": (Knob("shared_buffers", size, mib, restart=True),),
        "autovacuum": (Knob("autovacuum", switch, on_off),),
        "checkpoint_interval": (Knob("checkpoint_timeout", seconds, _minutes),),
        "checkpoint_spread": (Knob("checkpoint_completion_target", number),),
        "checksums": (Knob("data_checksums", switch),),
        "connections": (Knob("max_connections", number, whole, restart=True),),
        "durable_commit": (Knob("synchronous_commit", among(*_DURABLE), on_off),),
        "flushed_log": (Knob("fsync", switch, on_off),),
        "huge_pages": (Knob("huge_pages", word, on_off, restart=True),),
        "io_concurrency": (Knob("effective_io_concurrency", number, whole),),
        "io_timing": (Knob("track_io_timing", switch, on_off),),
        "log_buffer": (Knob("wal_buffers", size, mib, restart=True),),
        "log_capacity": (Knob("max_wal_size", size, mib),),
        "log_floor": (Knob("min_wal_size", size, mib),),
        "log_preallocated": (Knob("wal_init_zero", switch, on_off),),
        "page": (Knob("block_size", size),),
        "parallel": (Knob("max_parallel_workers_per_gather", number, whole),),
        "planner_cache": (Knob("effective_cache_size", size, mib),),
        "random_cost": (Knob("random_page_cost", number),),
        "recoverable": (
            Knob(
                "wal_level",
                among(*_WAL_LEVELS),
                lambda value: "replica" if value else "minimal",
                restart=True,
            ),
        ),
        "statement_counts": (
            Knob(
                "shared_preload_libraries",
                lambda text: "pg_stat_statements" in text,
                lambda _: "pg_stat_statements",
                restart=True,
                appended=True,
                before="-- without this extension the server does not start: SELECT * FROM "
                "pg_available_extensions WHERE name = 'pg_stat_statements';",
            ),
        ),
        "statistics": (Knob("track_counts", switch, on_off),),
        "temp_limit": (
            Knob("temp_file_limit", lambda text: 0.0 if text == "-1" else size(text), mib),
        ),
        "torn_pages": (Knob("full_page_writes", switch, on_off),),
        "work_memory": (Knob("work_mem", size, mib),),
    },
    lacks={
        "direct_io": "PostgreSQL reads and writes through the page cache",
        "file_growth": "PostgreSQL extends a file by what is needed, and by more while several "
        "sessions insert; there is no step to set",
        "io_capacity": "PostgreSQL paces checkpoints by time, not by a rate",
        "query_cache": "PostgreSQL caches no results",
    },
    assign=_assign,
    analyse="ANALYZE {table};",
    drop_index="DROP INDEX CONCURRENTLY {index};",
    clean="VACUUM (ANALYZE) {table};",
    log_table="ALTER TABLE {table} SET LOGGED;",
    upgrade="pg_upgrade to {series}, or dump and restore",
    ends={
        "PostgreSQL 13": date(2025, 11, 13),
        "PostgreSQL 14": date(2026, 11, 12),
        "PostgreSQL 15": date(2027, 11, 11),
        "PostgreSQL 16": date(2028, 11, 9),
        "PostgreSQL 17": date(2029, 11, 8),
        "PostgreSQL 18": date(2030, 11, 14),
    },
    series=_series,
    cache_share=0.25,
    move_log=(
        "# with the server stopped:",
        "mv DATA-FOLDER/pg_wal /mnt/log/pg_wal && ln -s /mnt/log/pg_wal DATA-FOLDER/pg_wal",
    ),
    move_temp=(
        "CREATE TABLESPACE temp LOCATION '/mnt/temp';",
        "ALTER SYSTEM SET temp_tablespaces = 'temp';",
        "SELECT pg_reload_conf();",
    ),
    rebuild={"checksums": "pg_checksums --enable -D DATA-FOLDER    (with the server stopped)"},
)

"""Settings of sessions and of the private server. Pure."""

from __future__ import annotations

from dyno.contracts.target import Limits
from dyno.servers.volume import VolumeFacts
from dyno.targets.mysql.version import Version

_MIB = 1 << 20
_GIB = 1 << 30

MAX_CONNECTIONS = 1100
"""Enough for the 1,024 users of a search, the probes and maintenance."""

LOCK_WAIT_S = 5
"""Lock wait timeout in seconds of a driven transaction, which is then retried and counted. The
statements after a failed one in its batch each wait as long at most, and the server's default of
50 s would add up. A longer timeout would exceed the response time that TPC-C allows for 90 % of its
transactions.
"""

LOCK_WAITS = ("innodb_lock_wait_timeout", "lock_wait_timeout")
"""Variables that driver sessions set to it if the server's are longer: row and table locks."""

_SESSION = {
    # Oversized values are errors, never truncated; a division by zero is NULL as elsewhere.
    "sql_mode": "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "time_zone": "'+00:00'",
    # The server's default timeout of a table lock is a day.
    "lock_wait_timeout": "600",
}

_MARIADB = {
    # The query cache would distort a measurement.
    "query_cache_type": "OFF",
    # Statistics from a sample with the server's default size: all rows take ten times as long.
    "analyze_sample_percentage": "0",
}

_MYSQL = {
    # Current sizes and row counts, not cached ones.
    "information_schema_stats_expiry": "0",
}


def session_settings(version: Version) -> list[str]:
    """Statements that give every session of Dyno the same settings, whatever the server's defaults.

    Texts are compared by their bytes, as in the other engines. The optimizer settings are the
    server's:
    the default of MariaDB 10.11's ``join_cache_level`` was the fastest for the 22 queries at scale
    0.1
    (9 s against 16 s with hash joins, 2026), and it is recorded.
    """
    values = {**_SESSION, **(_MARIADB if version.is_mariadb else _MYSQL)}
    assignments = ", ".join(f"{name} = {value}" for name, value in values.items())
    return ["SET NAMES utf8mb4 COLLATE utf8mb4_bin", f"SET SESSION {assignments}"]


SESSION_NAMES = (
    *_SESSION,
    *_MARIADB,
    *_MYSQL,
    "collation_connection",
    "histogram_type",
    "join_cache_level",
    "optimizer_switch",
    "optimizer_use_condition_selectivity",
    "use_stat_tables",
)
"""Additional settings of a session that explains plans."""


def settings(limits: Limits, volume: VolumeFacts) -> dict[str, str]:
    """The settings of the private server.

    Half of the cap is the buffer pool, which bypasses the kernel's page cache; sorts, joins and
    temporary tables share the rest. Durability is full (log flushed at each commit, doublewrite),
    because results without it would be flattering. The binary log is off, as there is no replica.

    Args:
        limits: Memory cap and CPUs of the engine.
        volume: The volume of the data.

    Returns:
        Options of ``mariadbd``, with underscores.
    """
    cap = limits.memory_bytes
    return {
        "max_connections": str(MAX_CONNECTIONS),
        "innodb_buffer_pool_size": _mib(max(cap // 2, 16 * _MIB)),
        # A saved buffer pool would make the next run start warm.
        "innodb_buffer_pool_dump_at_shutdown": "OFF",
        "innodb_buffer_pool_load_at_startup": "OFF",
        "innodb_flush_method": "O_DIRECT",
        "innodb_flush_log_at_trx_commit": "1",
        "innodb_doublewrite": "ON",
        "innodb_log_file_size": _mib(
            # Preallocated, so it must leave space for the data.
            _clamp(min(cap // 2, volume.space_bytes // 20), 96 * _MIB, 2 * _GIB)
        ),
        "innodb_log_buffer_size": _mib(_clamp(cap // 64, 16 * _MIB, 64 * _MIB)),
        "innodb_io_capacity": "200" if volume.rotational else "2000",
        "innodb_io_capacity_max": "2000" if volume.rotational else "10000",
        "innodb_sort_buffer_size": _mib(_clamp(cap // 64, 1 * _MIB, 64 * _MIB)),
        # With the default of 20 pages, plans of large tables are random.
        "innodb_stats_persistent_sample_pages": "200",
        "tmp_table_size": _mib(_clamp(cap // 16, 16 * _MIB, 2 * _GIB)),
        "max_heap_table_size": _mib(_clamp(cap // 16, 16 * _MIB, 2 * _GIB)),
        "sort_buffer_size": _mib(_clamp(cap // 64, 2 * _MIB, 256 * _MIB)),
        "join_buffer_size": _mib(_clamp(cap // 64, 1 * _MIB, 256 * _MIB)),
        "join_buffer_space_limit": _mib(_clamp(cap // 16, 4 * _MIB, 1 * _GIB)),
        "local_infile": "ON",
        "character_set_server": "utf8mb4",
        "collation_server": "utf8mb4_bin",
        "performance_schema": "OFF",
        "query_cache_size": "0",
    }


def options(values: dict[str, str]) -> list[str]:
    """Settings as arguments of ``mariadbd``."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]


def _mib(size: int) -> str:
    return str(size // _MIB * _MIB)


def _clamp(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))

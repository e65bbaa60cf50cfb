"""ClickHouse settings: the machine's limits and the semantics of standard SQL."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.contracts.target import Connection, Limits

_MARKS = 16
"""Divisor of memory for the mark cache; ClickHouse's default is 5 GiB."""

STANDARD_SQL = {
    "join_use_nulls": 1,  # outer joins: NULL, not 0 or '', for missing rows
    "aggregate_functions_null_for_empty": 1,  # the sum of no rows is NULL
    "prefer_column_name_to_alias": 1,  # SUM(x) AS x must not become SUM(SUM(x))
    "union_default_mode": "DISTINCT",
    "date_time_overflow_behavior": "throw",  # otherwise an out-of-range date becomes another date
    "output_format_arrow_compression_method": "none",  # results stay on this machine
}
"""Session settings that neutral statements require for standard semantics."""

FILES_OF_ROWS = {
    "use_cache_for_count_from_files": 0,  # it misses rows that come within a second
    "storage_file_read_method": "pread",  # the counters of reads miss mapped files
}
"""Session settings for tables in rows."""


def engine_options(limits: Limits) -> dict[str, int]:
    """Engine-wide settings: the engine stays within its memory."""
    return {
        "max_server_memory_usage": limits.memory_bytes,
        "mark_cache_size": limits.memory_bytes // _MARKS,
    }


def session_settings(limits: Limits) -> dict[str, int | str]:
    """Session settings: the limits of a statement, which spills from half its memory on."""
    return {
        "max_threads": limits.threads,
        "max_memory_usage": limits.memory_bytes,
        "max_bytes_before_external_group_by": limits.memory_bytes // 2,
        "max_bytes_before_external_sort": limits.memory_bytes // 2,
        # Insert blocks are sorted in memory; the default of 256 MiB is for large machines.
        "min_insert_block_size_bytes": min(256 << 20, limits.memory_bytes // 16),
        # A layout may have more partitions than the default limit of 100 per insert.
        "max_partitions_per_insert_block": 0,
        **STANDARD_SQL,
        **FILES_OF_ROWS,
    }


def statement(settings: dict[str, int | str]) -> str:
    """A ``SET`` statement with all of them."""
    return "SET " + ", ".join(
        f"{name} = {value}" if isinstance(value, int) else f"{name} = '{value}'"
        for name, value in settings.items()
    )


def shown(session: Connection, names: Sequence[str]) -> dict[str, str]:
    """Reads engine and session settings; leaves out unknown ones.

    Args:
        session: The session.
        names: Trusted setting names.
    """
    listed = ", ".join(f"'{name}'" for name in names)
    rows = session.execute(
        f"SELECT name, value FROM system.settings WHERE name IN ({listed}) "  # noqa: S608
        f"UNION ALL SELECT name, value FROM system.server_settings WHERE name IN ({listed})"
    ).rows
    return {str(name): str(value) for name, value in rows}

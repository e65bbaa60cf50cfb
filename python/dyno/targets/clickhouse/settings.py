"""What Dyno sets in ClickHouse: the limits of the machine, and the meaning of standard SQL."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.contracts.target import Connection, Limits

_MARKS = 16
"""The share of memory (a sixteenth) for the cache of marks; ClickHouse's own would be 5 GiB."""

STANDARD_SQL = {
    "join_use_nulls": 1,  # outer joins: NULL, not 0 or '', where a row is missing
    "aggregate_functions_null_for_empty": 1,  # the sum of no rows is NULL
    "prefer_column_name_to_alias": 1,  # SUM(x) AS x must not be read as SUM(SUM(x))
    "union_default_mode": "DISTINCT",
    "date_time_overflow_behavior": "throw",  # or a date out of range becomes another one
    "output_format_arrow_compression_method": "none",  # answers stay on this machine
}
"""Settings of a session without which neutral statements mean something else."""


def engine_options(limits: Limits) -> dict[str, int]:
    """Settings of the engine as a whole: everything in it stays within the memory."""
    return {
        "max_server_memory_usage": limits.memory_bytes,
        "mark_cache_size": limits.memory_bytes // _MARKS,
    }


def session_settings(limits: Limits) -> dict[str, int | str]:
    """Settings of a session: the limits of a statement; from half its memory on it spills."""
    return {
        "max_threads": limits.threads,
        "max_memory_usage": limits.memory_bytes,
        "max_bytes_before_external_group_by": limits.memory_bytes // 2,
        "max_bytes_before_external_sort": limits.memory_bytes // 2,
        # Blocks of an insert are sorted in memory; the default of 256 MiB is for large machines.
        "min_insert_block_size_bytes": min(256 << 20, limits.memory_bytes // 16),
        # A layout may have more partitions than the 100 that one insert may reach by default.
        "max_partitions_per_insert_block": 0,
        **STANDARD_SQL,
    }


def statement(settings: dict[str, int | str]) -> str:
    """``SET`` for all of them."""
    return "SET " + ", ".join(
        f"{name} = {value}" if isinstance(value, int) else f"{name} = '{value}'"
        for name, value in settings.items()
    )


def shown(session: Connection, names: Sequence[str]) -> dict[str, str]:
    """What the engine says of settings of its own and of the session; it leaves out unknown ones.

    Args:
        session: Whose settings.
        names: Names of settings, none of them from outside.
    """
    listed = ", ".join(f"'{name}'" for name in names)
    rows = session.execute(
        f"SELECT name, value FROM system.settings WHERE name IN ({listed}) "  # noqa: S608
        f"UNION ALL SELECT name, value FROM system.server_settings WHERE name IN ({listed})"
    ).rows
    return {str(name): str(value) for name, value in rows}

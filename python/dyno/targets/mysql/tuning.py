"""Maps portable settings to MariaDB and MySQL variables. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dyno.config.settings import Setting, bytes_text
from dyno.contracts.tuning import Change
from dyno.errors import UsageError
from dyno.targets.mysql.version import Version

_KIB = 1 << 10
_MIB = 1 << 20
_GIB = 1 << 30

KNOBS = {
    "memory": "innodb_buffer_pool_size",
    "work_memory": "sort_buffer_size",
    "temp_limit": "tmp_disk_table_size",
    "temp_path": "tmpdir",
    "large_pages": "large_pages",
    "commit": "innodb_flush_log_at_trx_commit",
    "checkpoint_size": "innodb_log_file_size",
    "table_counts": "performance_schema",
}

LACKS = {
    "parallelism": "MariaDB and MySQL run a query in one thread",
    "checksums": "InnoDB's pages always have checksums in MariaDB 10.6 and newer",
    "checkpoint_interval": "InnoDB flushes pages by log size (checkpoint_size), not by time",
}

_STEPS = {
    "innodb_buffer_pool_size": _MIB,
    "sort_buffer_size": 16 * _KIB,  # the coarsest of the variables set together
    "innodb_log_file_size": _MIB,
    "innodb_redo_log_capacity": _MIB,
}
"""The granularity of a variable in bytes."""

_BOUNDS = {
    "innodb_buffer_pool_size": (8 * _MIB, 1 << 43),
    "sort_buffer_size": (32 * _KIB, 1 << 40),
    "tmp_disk_table_size": (_MIB, 1 << 50),
    "max_tmp_session_space_usage": (_MIB, 1 << 50),
    "innodb_log_file_size": (8 * _MIB, 512 * _GIB),
    "innodb_redo_log_capacity": (8 * _MIB, 512 * _GIB),
}

_NOTES = {
    "sort_buffer_size": "per sort of a query",
    "tmp_disk_table_size": "per on-disk temporary table; sort runs are not counted",
    "max_tmp_session_space_usage": "per session",
    "innodb_log_file_size": "size of the whole log; pages are flushed before it is full",
    "innodb_redo_log_capacity": "size of the whole log; pages are flushed before it is full",
}

JOINS = 4
"""Number of full-size join buffers per query, if MariaDB limits their sum."""


def changes(
    asked: Sequence[Setting],
    version: Version | None = None,
    now: Callable[[str], int | None] = lambda _: None,
) -> list[Change]:
    """The variables to change: first the one of the setting, then those that depend on it.

    Args:
        asked: The settings.
        version: The server's; None means the oldest MariaDB, to check values before a start.
        now: Returns the current amount of a variable, in bytes or as a count; None if it has none.

    Raises:
        UsageError: If a value is out of the server's range.
    """
    server = version or Version("MariaDB", (10, 6))
    return [item for setting in asked for item in _change(setting, server, now)]


def name_of(word: str, version: Version) -> str:
    """The variable of a portable setting in a server version."""
    number = version.number[:2]
    if word == "temp_limit" and version.is_mariadb and number >= (11, 5):
        return "max_tmp_session_space_usage"
    if word == "checkpoint_size" and not version.is_mariadb and version.number >= (8, 0, 30):
        return "innodb_redo_log_capacity"
    return KNOBS[word]


def _change(setting: Setting, version: Version, now: Callable[[str], int | None]) -> list[Change]:
    name = name_of(setting.word, version)
    base = Change(setting.word, setting.text, name, str(setting.value))
    if setting.word == "commit":
        return _commit(base, durable=setting.value == "durable", binary_log=now("log_bin") == 1)
    if setting.word == "table_counts":
        counts = setting.value == "on"
        note = "the private server counts tables only; each row costs CPU time" if counts else ""
        return [replace(base, value="ON" if counts else "OFF", note=note)]
    if setting.word == "large_pages":
        # MariaDB itself continues without them; `on` is stricter, and verified after the start.
        return [replace(base, value="OFF" if setting.value == "off" else "ON")]
    if not isinstance(setting.value, int):
        return [base]
    first = _sized(replace(base, note=_NOTES.get(name, "")), setting.value)
    return _grant(first, version, now) if setting.word == "work_memory" else [first]


def _commit(base: Change, *, durable: bool, binary_log: bool) -> list[Change]:
    note = "" if durable else "a crash may lose the last second's commits"
    value = 1 if durable else 0
    found = [replace(base, value=str(value), amount=value, note=note)]
    if binary_log:
        found.append(replace(found[0], name="sync_binlog", note="the part of the binary log"))
    return found


def _grant(first: Change, version: Version, now: Callable[[str], int | None]) -> list[Change]:
    """Sorts, joins, and in-memory temporary tables for grouping."""
    size = first.amount or 0
    found = [
        first,
        replace(first, name="join_buffer_size", note="per join of a query"),
        replace(first, name="tmp_table_size", note="per aggregation table"),
        replace(first, name="max_heap_table_size", note="it would otherwise limit tmp_table_size"),
    ]
    limit = now("join_buffer_space_limit")
    if version.is_mariadb and limit is not None and limit < size * JOINS:
        total = size * JOINS
        found.append(
            replace(
                first,
                name="join_buffer_space_limit",
                value=str(total),
                amount=total,
                note=f"raised with it: space for {JOINS} joins",
            )
        )
    return found


def _sized(base: Change, size: int) -> Change:
    step = _STEPS.get(base.name, 1)
    whole = size // step * step
    notes = [base.note] if base.note else []
    if whole != size:
        notes.append(f"rounded down to a multiple of {bytes_text(step)}")
    least, most = _BOUNDS[base.name]
    if not least <= whole <= most:
        raise UsageError(
            f"{base.word}={base.asked}: the range of {base.name} is {bytes_text(least)} to "
            f"{bytes_text(most)}."
        )
    return replace(base, value=str(whole), amount=whole, note="; ".join(notes))

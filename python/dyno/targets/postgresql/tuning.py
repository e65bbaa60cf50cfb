"""Maps portable settings to PostgreSQL parameters. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from dyno.config.settings import Setting, bytes_text
from dyno.config.units import parse_bytes
from dyno.contracts.tuning import Change
from dyno.errors import UsageError

_KIB = 1 << 10
_MIB = 1 << 20

KNOBS = {
    "memory": "shared_buffers",
    "parallelism": "max_parallel_workers_per_gather",
    "work_memory": "work_mem",
    "temp_limit": "temp_file_limit",
    "large_pages": "huge_pages",
    "checksums": "data_checksums",
    "commit": "synchronous_commit",
    "checkpoint_interval": "checkpoint_timeout",
    "checkpoint_size": "max_wal_size",
}

LACKS = {
    "table_counts": "it always counts by table",
    "temp_path": "temporary files are in temp_tablespaces, which the server's owner creates",
}

_STEPS = {
    "shared_buffers": 8 * _KIB,
    "effective_cache_size": 8 * _KIB,
    "work_mem": _KIB,
    "temp_file_limit": _KIB,
    "max_wal_size": _MIB,
    "min_wal_size": _MIB,
}
"""The granularity of a parameter in bytes."""

_BOUNDS = {
    "shared_buffers": (128 * _KIB, (1 << 30) * 8 * _KIB),
    "work_mem": (64 * _KIB, (1 << 31) * _KIB - _KIB),
    "temp_file_limit": (0, (1 << 31) * _KIB - _KIB),
    "max_wal_size": (32 * _MIB, (1 << 31) * _MIB - _MIB),
    "checkpoint_timeout": (30, 86_400),
}
"""Minimum and maximum, in bytes or seconds. Those of the WAL are for segments of 16 MB."""

_NOTES = {
    "work_memory": "per sort or hash of a plan, and per worker",
    "temp_limit": "per process, so per worker of a query",
}

SPARE_WORKERS = 4
"""Worker slots of a private server in addition to a query's workers."""


def changes(
    asked: Sequence[Setting], now: Callable[[str], int], spare_workers: int = 0
) -> list[Change]:
    """The parameters to change: first the one of the setting, then those that depend on it.

    Args:
        asked: The settings.
        now: Returns the current amount of a parameter, in bytes or as a count.
        spare_workers: Worker slots in addition to a query's workers.

    Raises:
        UsageError: If a value is out of PostgreSQL's range.
    """
    found: list[Change] = []
    for setting in asked:
        found += _change(setting, now, spare_workers)
    return found


def overrides(wanted: Sequence[Change]) -> dict[str, str]:
    """The changes as lines of ``postgresql.conf``, without checksums."""
    return {item.name: item.value for item in wanted if item.name != "data_checksums"}


def amount_of(text: str) -> int:
    """The number in a value from ``settings``: a count, or bytes."""
    return int(text) if text.isdigit() else parse_bytes(text)


def amounts(values: Mapping[str, str]) -> Callable[[str], int]:
    """Current amounts by name, from values of ``postgresql.conf``."""
    return lambda name: amount_of(values[name])


def _change(setting: Setting, now: Callable[[str], int], spare_workers: int) -> list[Change]:
    base = Change(setting.word, setting.text, KNOBS[setting.word], str(setting.value))
    value = setting.value
    if isinstance(value, str):
        return [_choice(base, value)]
    if setting.word == "parallelism":
        return _parallelism(base, value, now, spare_workers)
    if setting.word == "checkpoint_interval":
        return [_within(replace(base, value=f"{value}s", amount=value), "{}s")]
    first = _sized(replace(base, note=_NOTES.get(base.word, "")), value)
    size = first.amount or 0
    found = [first]
    # Otherwise the planner would assume less cache than shared buffers.
    if first.name == "shared_buffers" and size > now("effective_cache_size"):
        found.append(replace(first, name="effective_cache_size", note="raised with memory"))
    if first.name == "max_wal_size" and size < now("min_wal_size"):
        found.append(replace(first, name="min_wal_size", note="lowered with it"))
    return found


def _choice(base: Change, value: str) -> Change:
    if base.word != "commit":
        return replace(base, value=value)
    if value == "durable":
        return replace(base, value="on")
    return replace(base, value="off", note="a crash may lose the last commits")


def _parallelism(
    base: Change, processors: int, now: Callable[[str], int], spare: int
) -> list[Change]:
    """1 is serial; larger values are the number of workers, as in other systems."""
    workers = 0 if processors == 1 else processors
    note = "workers besides the leader, which also works" if workers else "no workers: serial"
    wanted = {
        "max_parallel_workers_per_gather": workers,
        "max_parallel_maintenance_workers": workers,
    }
    if workers > now("max_parallel_workers"):
        wanted["max_parallel_workers"] = workers
    if workers + spare > now("max_worker_processes"):
        wanted["max_worker_processes"] = workers + spare
    return [
        replace(
            base, name=name, value=str(count), amount=count, note=note if name == base.name else ""
        )
        for name, count in wanted.items()
    ]


def _sized(base: Change, size: int) -> Change:
    step = _STEPS[base.name]
    whole = size // step * step
    notes = [base.note] if base.note else []
    if whole != size:
        notes.append(f"rounded down to a multiple of {bytes_text(step)}")
    text = bytes_text(whole) if whole else "0"
    change = replace(base, value=text, amount=whole, note="; ".join(notes))
    return _within(change, "bytes")


def _within(change: Change, form: str) -> Change:
    least, most = _BOUNDS[change.name]
    if change.amount is None or least <= change.amount <= most:
        return change
    low, high = (
        (bytes_text(least), bytes_text(most))
        if form == "bytes"
        else (form.format(least), form.format(most))
    )
    raise UsageError(
        f"{change.word}={change.asked}: the range of PostgreSQL's {change.name} is {low} to {high}."
    )

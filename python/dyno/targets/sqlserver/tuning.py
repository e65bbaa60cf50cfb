"""Maps portable settings to those of SQL Server: of the instance, and of Dyno's databases. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dyno.config.settings import Setting, bytes_text
from dyno.contracts.tuning import Change
from dyno.errors import UsageError

MEMORY = "max server memory (MB)"
MAXDOP = "max degree of parallelism"
THRESHOLD = "cost threshold for parallelism"
GRANT = "request_max_memory_grant_percent"
TEMP_FILES = "tempdb data files"
PAGE_VERIFY = "PAGE_VERIFY"
DURABILITY = "DELAYED_DURABILITY"
RECOVERY = "RECOVERY"
SNAPSHOT = "READ_COMMITTED_SNAPSHOT"

KNOBS = {
    "memory": MEMORY,
    "parallelism": MAXDOP,
    "parallel_cost": THRESHOLD,
    "work_memory": GRANT,
    "temp_files": TEMP_FILES,
    "checksums": PAGE_VERIFY,
    "commit": DURABILITY,
    "row_versions": SNAPSHOT,
    "recovery": RECOVERY,
}

LACKS = {
    "temp_limit": "tempdb grows to MAXSIZE of its files; set it with ALTER DATABASE tempdb",
    "temp_path": "tempdb moves when the server restarts, which Dyno never does; a layout checks "
    "where it is",
    "large_pages": "large pages need the start-up parameter -T834, and Dyno does not restart a "
    "server",
    "checkpoint_interval": "TARGET_RECOVERY_TIME bounds the time of a recovery, not the interval",
    "checkpoint_size": "a checkpoint follows the target recovery time, not the size of the log",
}

ONLY_NAMED = "it would be that of the whole server, which Dyno changes only if --set names it"
"""See ``contracts/tuning.py``."""

CONFIGURED = (MEMORY, MAXDOP, THRESHOLD)
"""Set with ``sp_configure``."""

OF_DATABASES = (PAGE_VERIFY, DURABILITY, RECOVERY, SNAPSHOT)
"""Options of a database; Dyno sets them in its own databases only."""

WORDS: dict[str, tuple[str, ...]] = {
    PAGE_VERIFY: ("CHECKSUM", "TORN_PAGE_DETECTION", "NONE"),
    DURABILITY: ("DISABLED", "ALLOWED", "FORCED"),
    RECOVERY: ("FULL", "BULK_LOGGED", "SIMPLE"),
    SNAPSHOT: ("ON", "OFF"),
}
"""The values of these options."""

_CHOSEN = {
    (PAGE_VERIFY, "on"): "CHECKSUM",
    (PAGE_VERIFY, "off"): "NONE",
    (DURABILITY, "durable"): "DISABLED",
    (DURABILITY, "relaxed"): "FORCED",
    (RECOVERY, "full"): "FULL",
    (RECOVERY, "bulk"): "BULK_LOGGED",
    (RECOVERY, "simple"): "SIMPLE",
    (SNAPSHOT, "on"): "ON",
    (SNAPSHOT, "off"): "OFF",
}
_NOTES = {
    (PAGE_VERIFY, "on"): "for pages written from now on",
    (PAGE_VERIFY, "off"): "for pages written from now on",
    (DURABILITY, "relaxed"): "a crash may lose the last commits",
    (RECOVERY, "full"): "the log grows until it is backed up",
    (RECOVERY, "bulk"): "the log grows until it is backed up; loads and index builds log less",
}
_MIB = 1 << 20
_LEAST, _MOST = 128 * _MIB, ((1 << 31) - 1) * _MIB


def changes(asked: Sequence[Setting], workspace_bytes: int | None = None) -> list[Change]:
    """The settings to change.

    Args:
        asked: The settings.
        workspace_bytes: Memory that the server has for all sorts and hashes; None before it is
            connected. Then the share of ``work_memory`` is not known yet.

    Raises:
        UsageError: If a value is out of the server's range.
    """
    return [_change(setting, workspace_bytes) for setting in asked]


def _change(setting: Setting, workspace_bytes: int | None) -> Change:
    name = KNOBS[setting.word]
    base = Change(setting.word, setting.text, name, str(setting.value))
    if isinstance(setting.value, str):
        chosen = (name, setting.value)
        return replace(base, value=_CHOSEN[chosen], note=_NOTES.get(chosen, ""))
    if name == MEMORY:
        return _memory(base, setting.value)
    if name == GRANT:
        return _grant(base, setting.value, workspace_bytes)
    return replace(base, amount=setting.value)


def _memory(base: Change, size: int) -> Change:
    if not _LEAST <= size <= _MOST:
        raise UsageError(
            f"{base.word}={base.asked}: the range of {MEMORY} is {bytes_text(_LEAST)} to "
            f"{bytes_text(_MOST)}."
        )
    mib = size // _MIB
    note = "" if mib * _MIB == size else "rounded down to a multiple of 1MB"
    return replace(base, value=str(mib), amount=mib, note=note)


def _grant(base: Change, size: int, workspace_bytes: int | None) -> Change:
    if workspace_bytes is None:
        return base
    percent = 100 * size // workspace_bytes
    if not 1 <= percent <= 100:
        raise UsageError(
            f"{base.word}={base.asked}: the server has {bytes_text(workspace_bytes)} for sorts and "
            f"hashes, and {GRANT} is 1 to 100 % of that."
        )
    note = f"of {bytes_text(workspace_bytes)} for sorts and hashes; per query, not per sort"
    return replace(base, value=str(percent), amount=percent, note=note)

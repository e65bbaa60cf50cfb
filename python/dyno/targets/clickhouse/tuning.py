"""Maps portable settings to ClickHouse settings.

All of them apply to the engine's process and end with it; none is stored in the directory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dyno.bundle.model import Applied
from dyno.config.settings import Setting, bytes_text
from dyno.contracts.target import Limits
from dyno.errors import TargetError, UsageError

KNOBS = {
    "memory": "max_server_memory_usage",
    "parallelism": "max_threads",
    "work_memory": "max_bytes_before_external_sort",
    "temp_limit": "max_temporary_data_on_disk_size_for_query",
}

LACKS = {
    "temp_path": "chdb ignores tmp_path; it spills to `tmp` in its directory, which is set in "
    "the target URL",
    "large_pages": "it uses transparent huge pages only",
    "checksums": "its files always have checksums",
    "commit": "an insert does not wait for a log; durability is a property of each table, "
    "not of a run",
    "checkpoint_interval": "it has no log and no checkpoints",
    "checkpoint_size": "it has no log and no checkpoints",
    "table_counts": "it has no counters by table",
}

LEAST_MEMORY = 64 << 20
"""The engine itself takes 20 MB; with less than this, no query runs."""

_SORT_BLOCK = 100 << 20
"""The default of the engine."""

_GRANTED = ("sort", "group_by", "distinct", "join")
_NOTES = {
    "max_server_memory_usage": "for the whole engine; one sixteenth of it is the mark cache",
    "max_memory_usage": "per query; it spills above half of it unless work_memory is set",
    "max_temporary_data_on_disk_size_for_query": "per query",
}
_GRANT_NOTE = "the operator spills above this size only"


@dataclass(frozen=True)
class Change:
    """A ClickHouse setting to apply; ``engine``: for the whole process."""

    setting: Setting
    name: str
    value: int
    engine: bool = False
    note: str = ""


def changes(asked: Sequence[Setting]) -> list[Change]:
    """The settings to apply.

    Raises:
        UsageError: If ClickHouse does not support a value.
    """
    return [change for item in asked for change in _changes(item)]


def within(wanted: Sequence[Change], limits: Limits) -> Limits:
    """The engine's limits with the requested memory, from which other settings follow."""
    for item in wanted:
        if item.engine and item.setting.word == "memory":
            return dataclasses.replace(limits, memory_bytes=item.value)
    return limits


def of_sessions(wanted: Sequence[Change]) -> dict[str, int]:
    """Settings of each session, in addition to Dyno's own."""
    found = {item.name: item.value for item in wanted if not item.engine}
    for item in wanted:
        if item.setting.word == "work_memory":
            found.update(_beside(item.value))
    return found


def names(wanted: Sequence[Change]) -> list[str]:
    """Names of all changed settings, to read before and after."""
    engine = [item.name for item in wanted if item.engine]
    return [*engine, *of_sessions(wanted)]


def require_known(wanted: Sequence[Change], known: Mapping[str, str], version: str) -> None:
    """Rejects settings that this version of ClickHouse lacks.

    Raises:
        UsageError: With the setting.
    """
    for item in wanted:
        if item.name not in known:
            raise UsageError(
                f"{item.setting.word}={item.setting.text} maps to {item.name}, which {version} "
                "does not have; install a newer chdb with pip, or omit it."
            )


def verify(
    wanted: Sequence[Change], found: Mapping[str, str], before: Mapping[str, str]
) -> list[Applied]:
    """Compares every change with the value read back.

    Raises:
        TargetError: If ClickHouse has another value.
    """
    for item in wanted:
        given = {item.name: item.value}
        if item.setting.word == "work_memory":
            given.update(_beside(item.value))
        for name, value in given.items():
            if found.get(name) != str(value):
                raise TargetError(
                    f"{item.setting.word}={item.setting.text} was not applied: Dyno set {name} = "
                    f"{value}, ClickHouse reports {found.get(name)}.",
                    kind="database",
                )
    return [
        Applied(
            word=item.setting.word,
            asked=item.setting.text,
            name=item.name,
            value=str(item.value),
            found=found[item.name],
            before=before.get(item.name, ""),
            how="when the engine was started" if item.engine else "in each session",
            note=item.note or _NOTES.get(item.name, ""),
        )
        for item in wanted
    ]


def _changes(item: Setting) -> list[Change]:
    value = int(item.value)
    match item.word:
        case "memory":
            if value < LEAST_MEMORY:
                raise UsageError(
                    f"memory={item.text}: the minimum for ClickHouse is {bytes_text(LEAST_MEMORY)}."
                )
            return [
                Change(item, KNOBS["memory"], value, engine=True),
                Change(item, "max_memory_usage", value),
            ]
        case "work_memory":
            return [
                Change(item, f"max_bytes_before_external_{name}", value, note=_GRANT_NOTE)
                for name in _GRANTED
            ]
        case "temp_limit" if value == 0:
            # ClickHouse's 0 means no limit.
            note = "per query; 1 byte, because 0 means no limit"
            return [Change(item, KNOBS["temp_limit"], 1, note=note)]
        case word:
            return [Change(item, KNOBS[word], value)]


def _beside(grant: int) -> dict[str, int]:
    """Other settings that must change for a memory grant to take effect."""
    shares = {f"max_bytes_ratio_before_external_{name}": 0 for name in _GRANTED}
    # A sort never spills less than this at once, whatever its threshold.
    return {**shares, "min_external_sort_block_bytes": min(grant, _SORT_BLOCK)}

"""Dyno's neutral settings in ClickHouse's words.

All of them live in the engine's process and end with it: a directory keeps none of them.
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
    "temp_path": "chdb does not heed tmp_path; it spills into `tmp` in the directory, which the "
    "target's URL places",
    "large_pages": "it takes what the kernel's transparent huge pages give",
    "checksums": "its files always have them",
    "commit": "an insert waits for no log; whether its files wait for the storage is a property "
    "of each table, not of a run",
    "checkpoint_interval": "it keeps no log, and so makes no checkpoints",
    "checkpoint_size": "it keeps no log, and so makes no checkpoints",
}

LEAST_MEMORY = 64 << 20
"""The engine itself takes 20 MB; with less than this, no query runs."""

_SORT_BLOCK = 100 << 20
"""The engine's own."""

_GRANTED = ("sort", "group_by", "distinct", "join")
_NOTES = {
    "max_server_memory_usage": "of everything in the engine together; a sixteenth of it for the "
    "cache of marks",
    "max_memory_usage": "of one query; it spills from half of it on unless work_memory is set",
    "max_temporary_data_on_disk_size_for_query": "of each query",
}
_GRANT_NOTE = "beyond it the operator spills, and by no share of the memory before"


@dataclass(frozen=True)
class Change:
    """One of ClickHouse's settings as it shall be; ``engine``: of the whole process."""

    setting: Setting
    name: str
    value: int
    engine: bool = False
    note: str = ""


def changes(asked: Sequence[Setting]) -> list[Change]:
    """What has to be changed.

    Raises:
        UsageError: If ClickHouse cannot have a value.
    """
    return [change for item in asked for change in _changes(item)]


def within(wanted: Sequence[Change], limits: Limits) -> Limits:
    """The limits of the engine with what is asked: other settings follow from its memory."""
    for item in wanted:
        if item.engine and item.setting.word == "memory":
            return dataclasses.replace(limits, memory_bytes=item.value)
    return limits


def of_sessions(wanted: Sequence[Change]) -> dict[str, int]:
    """Settings of each session, beyond Dyno's own."""
    found = {item.name: item.value for item in wanted if not item.engine}
    for item in wanted:
        if item.setting.word == "work_memory":
            found.update(_beside(item.value))
    return found


def names(wanted: Sequence[Change]) -> list[str]:
    """Names of all settings that are given, to be read before and after."""
    engine = [item.name for item in wanted if item.engine]
    return [*engine, *of_sessions(wanted)]


def require_known(wanted: Sequence[Change], known: Mapping[str, str], version: str) -> None:
    """Refuses what this version of ClickHouse lacks.

    Raises:
        UsageError: Naming it.
    """
    for item in wanted:
        if item.name not in known:
            raise UsageError(
                f"{item.setting.word}={item.setting.text} means {item.name}, which {version} "
                "lacks; install a newer chdb with pip, or leave it out."
            )


def verify(
    wanted: Sequence[Change], found: Mapping[str, str], before: Mapping[str, str]
) -> list[Applied]:
    """Compares every change with what was read back.

    Raises:
        TargetError: If ClickHouse has something else.
    """
    for item in wanted:
        given = {item.name: item.value}
        if item.setting.word == "work_memory":
            given.update(_beside(item.value))
        for name, value in given.items():
            if found.get(name) != str(value):
                raise TargetError(
                    f"{item.setting.word}={item.setting.text} was not applied: ClickHouse was "
                    f"given {name} = {value} and has {found.get(name)}.",
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
                    f"memory={item.text}: ClickHouse's memory goes from {bytes_text(LEAST_MEMORY)}."
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
            # Its own 0 means no limit.
            note = "of each query; a byte, for its 0 would mean no limit"
            return [Change(item, KNOBS["temp_limit"], 1, note=note)]
        case word:
            return [Change(item, KNOBS[word], value)]


def _beside(grant: int) -> dict[str, int]:
    """What else a grant needs so that it alone decides."""
    shares = {f"max_bytes_ratio_before_external_{name}": 0 for name in _GRANTED}
    # A sort spills no less than this at once, whatever its threshold.
    return {**shares, "min_external_sort_block_bytes": min(grant, _SORT_BLOCK)}

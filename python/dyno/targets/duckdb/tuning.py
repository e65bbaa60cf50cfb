"""Maps portable settings to DuckDB settings.

All of them apply to Dyno's own process and end with it; none is stored in the file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dyno.bundle.model import Applied
from dyno.config.settings import Setting
from dyno.errors import TargetError, UsageError

KNOBS = {
    "memory": "memory_limit",
    "parallelism": "threads",
    "work_memory": "operator_memory_limit",
    "temp_limit": "max_temp_directory_size",
    "temp_path": "temp_directory",
    "checkpoint_size": "checkpoint_threshold",
}

LACKS = {
    "large_pages": "it uses transparent huge pages only",
    "checksums": "its blocks always have checksums",
    "commit": "a commit always waits for its log",
    "checkpoint_interval": "checkpoints start by log size (checkpoint_size)",
    "table_counts": "it has no counters by table",
}

_NOTES = {
    "parallelism": "for all sessions together",
    "work_memory": "per session: sorts, hashes and other intermediates together",
}

_UNITS = {
    "byte": 1,
    "bytes": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
    "PiB": 1 << 50,
}

Read = Callable[[str], str | None]
"""Returns the current value of a setting as DuckDB shows it; None if it has none."""


@dataclass(frozen=True)
class Change:
    """A setting to apply; ``local`` to each session or for the whole process."""

    setting: Setting
    name: str
    value: str | int
    local: bool


def changes(asked: Sequence[Setting], file: Path) -> list[Change]:
    """The settings to apply for the database ``file``."""
    return [
        Change(item, KNOBS[item.word], _value(item, file), local=item.word == "work_memory")
        for item in asked
    ]


def config(wanted: Sequence[Change]) -> dict[str, str | int]:
    """The settings to open the file with."""
    return {item.name: item.value for item in wanted if not item.local}


def spill_folder(folder: Path, file: Path) -> Path:
    """A subfolder for Dyno in a user's folder, always the same for a database file."""
    mark = hashlib.sha256(str(file).encode()).hexdigest()[:8]
    return folder / f"dyno-spill-{mark}"


def verify(wanted: Sequence[Change], read: Read, before: Mapping[str, str]) -> list[Applied]:
    """Reads every change back.

    Raises:
        TargetError: If DuckDB has another value.
    """
    applied: list[Applied] = []
    for item in wanted:
        found = read(item.name)
        if found is None or not _equal(item.value, found):
            raise TargetError(
                f"{item.setting.word}={item.setting.text} was not applied: Dyno set {item.name} "
                f"= {item.value}, DuckDB reports {found}.",
                kind="database",
            )
        applied.append(
            Applied(
                word=item.setting.word,
                asked=item.setting.text,
                name=item.name,
                value=str(item.value),
                found=found,
                before=before.get(item.name, ""),
                how="in each session" if item.local else "when the file was opened",
                note=_note(item, found),
            )
        )
    return applied


def require_known(wanted: Sequence[Change], names: set[str], version: str) -> None:
    """Rejects settings that this version of DuckDB lacks.

    Raises:
        UsageError: With the setting.
    """
    for item in wanted:
        if item.name not in names:
            raise UsageError(
                f"{item.setting.word}={item.setting.text} maps to {item.name}, which {version} "
                "does not have; install a newer duckdb with pip, or omit it."
            )


def _value(item: Setting, file: Path) -> str | int:
    if item.word == "parallelism":
        return int(item.value)
    if item.word == "temp_path":
        return str(spill_folder(Path(str(item.value)), file))
    return f"{item.value}B"


def _equal(value: str | int, found: str) -> bool:
    size = re.fullmatch(r"(\d+)B", str(value))
    shown = re.fullmatch(r"([\d.]+) (\w+)", found)
    if size is None or shown is None or shown[2] not in _UNITS:
        return str(value) == found
    # It shows one decimal and truncates the rest.
    unit = _UNITS[shown[2]]
    return abs(int(size[1]) - float(shown[1]) * unit) <= unit / 10


def _note(item: Change, found: str) -> str:
    notes = [_NOTES.get(item.setting.word, "")]
    if re.fullmatch(r"\d+\.\d \w+", found):
        notes.append("DuckDB reports one decimal")
    return "; ".join(note for note in notes if note)

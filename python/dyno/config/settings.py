"""Portable settings: names, meanings, units and bounds.

A target translates them (``targets/<name>/tuning.py``); nothing here knows any database.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dyno.config.units import parse_bytes, parse_seconds
from dyno.errors import UsageError, unknown
from dyno.safety import toml

Kind = Literal["bytes", "count", "choice", "seconds", "folder"]


@dataclass(frozen=True)
class Word:
    """One portable setting name.

    Attributes:
        meaning: The same for every target.
        choices: The values of a ``choice``.
        least, most: Bounds of a number; bytes, seconds or a count.
    """

    name: str
    kind: Kind
    meaning: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 1 << 50


_SWITCH = ("on", "off")

WORDS = {
    word.name: word
    for word in (
        Word("memory", "bytes", "the engine's buffer pool (or all of its memory)", least=1),
        Word(
            "parallelism",
            "count",
            "CPUs that one query may use; 1 is serial",
            least=1,
            most=1024,
        ),
        Word(
            "parallel_cost",
            "count",
            "estimated cost from which a query runs in parallel, in the engine's unit",
            most=32767,
        ),
        Word("work_memory", "bytes", "memory for one sort or hash of a query", least=1),
        Word("temp_limit", "bytes", "maximum size of spilled data"),
        Word("temp_path", "folder", "an existing folder for spilled data"),
        Word("temp_files", "count", "files of the temporary database", least=1, most=256),
        Word("large_pages", "choice", "huge pages for the engine's memory", (*_SWITCH, "try")),
        Word("checksums", "choice", "checksums of data pages", _SWITCH),
        Word(
            "commit",
            "choice",
            "durable: a commit waits for its log; relaxed: a crash may lose the last commits",
            ("durable", "relaxed"),
        ),
        Word("row_versions", "choice", "readers see old row versions instead of waiting", _SWITCH),
        Word(
            "recovery",
            "choice",
            "full: the log suffices to restore to a point in time; bulk: except for bulk loads; "
            "simple: the log is reused after a checkpoint",
            ("full", "bulk", "simple"),
        ),
        Word("checkpoint_interval", "seconds", "maximum time between checkpoints", (), 1),
        Word("checkpoint_size", "bytes", "log written before a checkpoint starts", least=1),
        Word("table_counts", "choice", "counters of rows read and written by table", _SWITCH),
    )
}

_RENAMED = {"grant": "work_memory"}
"""Names of earlier versions."""


@dataclass(frozen=True)
class Setting:
    """A setting name and its value.

    Attributes:
        text: As the user wrote it.
        value: Bytes, seconds or a count as a number; a choice or a folder as text.
    """

    word: str
    text: str
    value: int | str


def unknown_setting(name: str) -> UsageError:
    """The error for an unknown name. It suggests the nearest name, or the new one of a renamed."""
    if name in _RENAMED:
        return UsageError(f"Unknown setting '{name}'. Did you mean '{_RENAMED[name]}'?")
    return unknown("setting", name, WORDS)


def assigned(kind: str, texts: Sequence[str], example: str) -> dict[str, str]:
    """Names and values of ``name=value``, in the order given.

    Raises:
        UsageError: For a text of another form, or a name that is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name or not value:
            raise UsageError(f"'{text}' is not a valid {kind}; write it like {example}.")
        if name in found:
            raise UsageError(f"The {kind} {name} is given twice.")
        found[name] = value
    return found


def parse(texts: Sequence[str], file: Path | None, memory_bytes: int | None) -> list[Setting]:
    """The settings, in the order of :data:`WORDS`.

    Args:
        texts: ``name=value``; these override ``file``.
        file: A TOML file with a table ``[settings]``.
        memory_bytes: The machine's memory: the base of percentages, and the maximum. None for a
            remote server.

    Raises:
        UsageError: For the first invalid setting, in one line. An unknown name suggests the
            nearest one.
    """
    asked: dict[str, Any] = {} if file is None else _table(file)
    asked |= assigned("setting", texts, "memory=4GB")
    for name in asked:
        if name not in WORDS:
            raise unknown_setting(name)
    return [_read(word, asked[name], memory_bytes) for name, word in WORDS.items() if name in asked]


def as_record(asked: Sequence[Setting]) -> dict[str, str]:
    """The settings, for the plan in a bundle."""
    return {item.word: item.text for item in asked}


def bytes_text(size: int) -> str:
    """An exact size in the largest binary unit that divides it: ``4GB``, ``1500kB``, ``77B``."""
    for unit, name in ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if size and size % unit == 0:
            return f"{size // unit}{name}"
    return f"{size}B"


def _table(file: Path) -> dict[str, Any]:
    content = toml.table(toml.text_of(file, str(file)), str(file))
    table = content.get("settings")
    if not isinstance(table, Mapping):
        raise UsageError(f"{file} has no [settings] table.")
    return dict(table)


def _read(word: Word, given: Any, memory_bytes: int | None) -> Setting:
    if isinstance(given, bool):  # TOML's true and false
        given = "on" if given else "off"
    if not isinstance(given, (str, int, float)):
        raise UsageError(f"The setting {word.name} takes one value, not {given!r}.")
    text = str(given).strip()
    return Setting(word.name, text, _value(word, text, memory_bytes))


def _value(word: Word, text: str, memory_bytes: int | None) -> int | str:
    match word.kind:
        case "choice":
            return _choice(word, text)
        case "folder":
            folder = Path(text).expanduser().absolute()
            if not folder.is_dir():
                raise UsageError(f"{word.name}={text}: no such folder.")
            return str(folder)
        case "bytes":
            value, shown = _bytes(word, text, memory_bytes), bytes_text
        case "seconds":
            value, shown = _seconds(word, text), "{}s".format
        case "count":
            try:
                value, shown = int(text), str
            except ValueError:
                raise UsageError(f"{word.name}={text}: use a whole number.") from None
    if not word.least <= value <= word.most:
        raise UsageError(
            f"{word.name}={text}: use a value from {shown(word.least)} to {shown(word.most)}."
        )
    return value


def _choice(word: Word, text: str) -> str:
    given = text.lower()
    if word.choices[:2] == _SWITCH:
        given = {"true": "on", "yes": "on", "1": "on", "false": "off", "no": "off", "0": "off"}.get(
            given, given
        )
    if given not in word.choices:
        raise UsageError(f"{word.name}={text}: use one of {', '.join(word.choices)}.")
    return given


def _bytes(word: Word, text: str, memory_bytes: int | None) -> int:
    if text.endswith("%"):
        try:
            share = float(text[:-1])
        except ValueError:
            share = math.nan
        if not 0 < share <= 100:
            raise UsageError(f"{word.name}={text}: use a percentage above 0 % and up to 100 %.")
        if memory_bytes is None:
            raise UsageError(
                f"{word.name}={text}: a percentage refers to this machine's memory, and the server "
                "runs on another one; use bytes, such as 4GB."
            )
        return int(memory_bytes * share / 100)
    try:
        size = 0 if text in {"0", "0B"} else parse_bytes(text)
    except UsageError:
        raise UsageError(
            f"{word.name}={text}: use a size like 64MB or 4GiB (1 kB is 1024 bytes), or a "
            "percentage of the memory like 25%."
        ) from None
    if word.name in {"memory", "work_memory"} and memory_bytes is not None and size > memory_bytes:
        there = bytes_text(memory_bytes >> 20 << 20)
        raise UsageError(f"{word.name}={text}: this machine has {there} of memory.")
    return size


def _seconds(word: Word, text: str) -> int:
    try:
        seconds = parse_seconds(text.replace("min", "m"))
    except UsageError:
        raise UsageError(f"{word.name}={text}: use a time like 30s, 5m or 1h.") from None
    if seconds != int(seconds):
        raise UsageError(f"{word.name}={text}: use whole seconds.")
    return int(seconds)

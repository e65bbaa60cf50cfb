"""Maps portable settings to SQLite settings.

All of them apply to Dyno's own process: pragmas end with their session, and the process-wide folder
of temporary files is restored when the target is left. None is stored in the file.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dyno.bundle.model import Applied
from dyno.config.settings import Setting, bytes_text
from dyno.errors import TargetError, UsageError

KNOBS = {
    "memory": "cache_size",
    "parallelism": "threads",
    "temp_path": "temp_store_directory",
    "commit": "synchronous",
    "checkpoint_size": "wal_autocheckpoint",
}

LACKS = {
    "work_memory": "a sort may use as much memory as its session's cache (memory)",
    "temp_limit": "only the volume limits spilled data (temp_path)",
    "large_pages": "its cache is ordinary memory of Dyno's process",
    "checksums": "stock SQLite has no page checksums; they need an extension",
    "checkpoint_interval": "checkpoints start by log size (checkpoint_size)",
    "table_counts": "it has no counters by table",
}

FOLDER = "temp_store_directory"
"""The only setting that is process-wide instead of per session."""

_SYNCHRONOUS = {"durable": 3, "relaxed": 1}
_FRAME_HEADER = 24
"""Bytes before each page in a write-ahead log: https://www.sqlite.org/fileformat2.html, 4.1."""

_LEAST_MEMORY = 64 << 10
_MOST_MEMORY = ((1 << 31) - 1) << 10

_NOTES = {
    "memory": "per session; each sort may use as much again, up to 512MB",
    "parallelism": "for sorts only: the session and its helpers; the rest of a query is serial",
    "commit=durable": "extra: a commit also waits for the removal of a rollback journal",
    "commit=relaxed": "normal: with a write-ahead log a commit does not wait; with a rollback "
    "journal it still does",
}

Read = Callable[[str], object]
"""Returns the value of a pragma in a session; None if it has none."""


@dataclass(frozen=True)
class Change:
    """A setting to apply.

    Attributes:
        amount: The requested value in the setting's own unit: KiB of cache (negative, as in
            SQLite), helper threads, a level of synchronous, or bytes of log; a folder as text.
    """

    setting: Setting
    name: str
    amount: int | str

    def value(self, page_size: int) -> int | str:
        """The pragma's value for a page size in bytes."""
        if self.name == "wal_autocheckpoint":
            return int(self.amount) // (page_size + _FRAME_HEADER)
        return self.amount


def changes(asked: Sequence[Setting]) -> list[Change]:
    """The settings to apply.

    Raises:
        UsageError: If SQLite does not support a value.
    """
    return [Change(item, KNOBS[item.word], _amount(item)) for item in asked]


def most_helpers() -> int:
    """Maximum helper threads of a sort in this SQLite; 0 if it was built without threads."""
    with contextlib.closing(sqlite3.connect(":memory:")) as session:
        session.execute("PRAGMA threads = 1000000")
        row = session.execute("PRAGMA threads").fetchone()
        return int(row[0]) if row else 0


def apply(session: sqlite3.Connection, wanted: Sequence[Change]) -> None:
    """Applies the per-session settings to a session, and reads each back.

    Raises:
        TargetError: If SQLite has another value.
        sqlite3.Error: If SQLite rejects one.
    """
    size = page_size(session)
    for item in wanted:
        if item.name != FOLDER:
            session.execute(f"PRAGMA {item.name} = {item.value(size)}")
    verify(wanted, size, lambda name: read(session, name), {})


def verify(
    wanted: Sequence[Change], size: int, found_of: Read, before: Mapping[str, str]
) -> list[Applied]:
    """Reads every change back, in a file with pages of ``size`` bytes.

    Raises:
        TargetError: If SQLite has another value.
    """
    applied: list[Applied] = []
    for item in wanted:
        value, found = item.value(size), found_of(item.name)
        if str(found) != str(value):
            raise TargetError(
                f"{item.setting.word}={item.setting.text} was not applied: Dyno set {item.name} "
                f"= {value}, SQLite reports {found}.",
                kind="database",
            )
        applied.append(
            Applied(
                word=item.setting.word,
                asked=item.setting.text,
                name=item.name,
                value=str(value),
                found=str(found),
                before=before.get(item.name, ""),
                how="in the whole process" if item.name == FOLDER else "in each session",
                note=_note(item, size),
            )
        )
    return applied


def set_folder(folder: str) -> str:
    """Sets the folder of temporary files for the whole process; empty means SQLite's choice.

    No session may be open, because SQLite does not synchronize this.

    Returns:
        The previous folder.

    Raises:
        UsageError: If this SQLite was built without it, or cannot write there.
    """
    with contextlib.closing(sqlite3.connect(":memory:")) as session:
        before = read(session, FOLDER) or ""
        try:
            session.execute(f"PRAGMA {FOLDER} = '{folder.replace(chr(39), chr(39) * 2)}'")
        except sqlite3.Error as error:
            raise UsageError(f"temp_path={folder}: SQLite reports: {error}.") from error
        if (read(session, FOLDER) or "") != folder:
            raise UsageError(
                f"temp_path={folder}: this SQLite {sqlite3.sqlite_version} was built without "
                f"{FOLDER}; set SQLITE_TMPDIR before you start Dyno instead."
            )
        return str(before)


def read(session: sqlite3.Connection, name: str) -> object:
    """The current value of a pragma."""
    row = session.execute(f"PRAGMA {name}").fetchone()
    return None if row is None or row[0] is None else row[0]


def page_size(session: sqlite3.Connection) -> int:
    """The page size of the file in bytes, also of an empty one."""
    return int(session.execute("PRAGMA page_size").fetchone()[0])


def _amount(item: Setting) -> int | str:
    asked = f"{item.word}={item.text}"
    match item.word:
        case "memory":
            size = int(item.value)
            if not _LEAST_MEMORY <= size <= _MOST_MEMORY:
                least, most = bytes_text(_LEAST_MEMORY), bytes_text(_MOST_MEMORY)
                raise UsageError(f"{asked}: the range of SQLite's cache_size is {least} to {most}.")
            return -(size >> 10)
        case "parallelism":
            helpers, most = int(item.value) - 1, most_helpers()
            if helpers > most:
                raise UsageError(
                    f"{asked}: a sort in SQLite has at most {most} helpers; use 1 to {most + 1}."
                )
            return helpers
        case "commit":
            return _SYNCHRONOUS[str(item.value)]
        case "checkpoint_size":
            least = (64 << 10) + _FRAME_HEADER  # a frame with the largest page
            if int(item.value) < least:
                raise UsageError(
                    f"{asked}: SQLite's log has whole pages; use at least {bytes_text(66 << 10)}."
                )
            return int(item.value)
        case _:
            return str(item.value)


def _note(item: Change, size: int) -> str:
    word = item.setting.word
    notes = [_NOTES.get(word, ""), _NOTES.get(f"{word}={item.setting.value}", "")]
    if item.name == "cache_size":
        notes.append("in KiB if negative")
        if int(item.setting.value) % 1024:
            notes.append("rounded down to whole KiB")
    if item.name == "wal_autocheckpoint":
        notes.append(f"whole pages of {size} bytes with their headers")
    return "; ".join(note for note in notes if note)

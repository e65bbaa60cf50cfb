"""What a database occupies: by its files where they are on this machine, else by SQL."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

from dyno.errors import DynoError
from dyno.targets.mysql.connection import MysqlConnection, literal
from dyno.targets.mysql.index import Step
from dyno.workspace.footprint import Meter, StepRecord, folder_bytes

_ALONE = {"cluster", "foreign key"}
"""Steps that write a table anew, and run alone."""


class Files:
    """The files of the private server; its log is not counted."""

    def __init__(self, data: Path, volumes: Iterable[Path], temporary: Path, pid: int) -> None:
        """Looks at a running server.

        Args:
            data: Its data folder.
            volumes: Its folders for tables on volumes.
            temporary: Its ``tmpdir``.
            pid: Its process.
        """
        self._data, self._volumes = data, list(volumes)
        self.temporary = temporary
        self._pid = pid

    def total(self) -> int:
        """Bytes of tables, indexes, the system's tablespaces and temporary files."""
        places = (self._data, *self._volumes)
        log = sum(_file_bytes(file) for place in places for file in place.glob("ib_logfile*"))
        return sum(map(folder_bytes, places)) - log + self.spilled(self.temporary)

    def table(self, place: str, name: str) -> int:
        """Bytes of a table with its partitions and indexes."""
        return sum(
            _file_bytes(file)
            for folder in (self._data / place, *(volume / place for volume in self._volumes))
            for pattern in (f"{name}.ibd", f"{name}#[Pp]#*.ibd")
            for file in folder.glob(pattern)
        )

    def spilled(self, folder: Path) -> int:
        """Bytes of temporary files in a folder, those without a name too that it has open."""
        named, unnamed = folder_bytes(folder), 0
        descriptors = Path(f"/proc/{self._pid}/fd")
        with contextlib.suppress(OSError):
            for entry in os.scandir(descriptors):
                with contextlib.suppress(OSError):
                    path = str(Path(entry.path).readlink())
                    if path.startswith(f"{folder}/") and path.endswith(" (deleted)"):
                        unnamed += Path(entry.path).stat().st_blocks * 512
        return named + unnamed


class StepLog:
    """Measures the steps of an index stage, also those that go on side by side.

    A step that builds indexes needs its sorted runs, which its session keeps in a folder of their
    own, and what it builds. A step that writes a table anew runs alone, so that the server's files
    as a whole tell. Without the files there is the growth at rest, and no peak.
    """

    def __init__(self, place: str, files: Files | None, meter: Meter, owner: tuple[int, int]):
        self._place, self._files, self._meter = place, files, meter
        self._owner = owner
        self._folders: dict[int, Path] = {}
        self._lock = threading.Lock()
        self._found: dict[str, dict[str, Any]] = {}

    @contextlib.contextmanager
    def around(self, step: Step, session: MysqlConnection) -> Generator[None]:
        """Measures one step, which this session runs."""
        files, before = self._files, self._size(step, session)
        if files is None:
            probe = None
        elif step.kind in _ALONE:
            probe = files.total
        else:
            folder = self._folder(session, files)
            probe = lambda: files.spilled(folder)  # noqa: E731
        with self._meter.watching(probe) as peak:
            yield
        after = self._size(step, session)
        rest = None if before is None or after is None else after - before
        extra = peak.extra
        if extra is not None and step.kind in _ALONE:
            # The new copy is whole before the old one goes, however short the samples fall.
            extra = max(extra, after or 0)
        elif extra is not None:
            extra += max(0, rest or 0)
        self._found[step.name] = {
            "kind": step.kind,
            "table": step.table,
            "moved_bytes": before if step.kind == "cluster" else None,
            "extra_peak_bytes": extra,
            "extra_rest_bytes": rest,
            "table_bytes": before or None,
        }

    def records(self, seconds: dict[str, float]) -> list[dict[str, Any]]:
        """All steps in the order in which they ended, with what they took."""
        return [
            StepRecord(step=name, seconds=seconds[name], **fields).record()
            for name, fields in self._found.items()
        ]

    def _folder(self, session: MysqlConnection, files: Files) -> Path:
        """The folder that a session sorts in: made, and told to it, when it first is needed."""
        with self._lock:
            number = id(session)
            if number not in self._folders:
                folder = files.temporary / f"build-{len(self._folders)}"
                folder.mkdir(mode=0o700, exist_ok=True)
                if self._owner[0] != os.geteuid():
                    os.chown(folder, *self._owner)
                self._folders[number] = folder
            folder = self._folders[number]
        session.execute(f"SET SESSION innodb_tmpdir = {literal(str(folder))}")
        return folder

    def _size(self, step: Step, session: MysqlConnection) -> int | None:
        if self._files is not None:
            return self._files.table(self._place, step.table)
        return size_of(session, self._place, step.table)


def size_of(session: MysqlConnection, place: str, table: str = "") -> int | None:
    """Bytes of a table with its partitions, or of all databases whose names begin with ``place``.

    Returns:
        None if this user may not ask: it needs the privilege PROCESS.
    """
    source = "innodb_sys_tablespaces" if session.version.is_mariadb else "innodb_tablespaces"
    whole = f"name LIKE {literal(_pattern(place) + '%/%')}"
    one = f"(name = {literal(f'{place}/{table}')} OR name LIKE {literal(_part(place, table))})"
    try:
        rows = session.execute(
            f"SELECT COALESCE(SUM(file_size), 0) FROM information_schema.{source} "  # noqa: S608
            f"WHERE {one if table else whole}"
        ).rows
    except DynoError as error:
        if error.kind != "denied":
            raise
        return None
    return int(rows[0][0])


def _part(place: str, table: str) -> str:
    return f"{_pattern(place)}/{_pattern(table)}#p#%"


def _pattern(name: str) -> str:
    return name.replace("\\", "\\\\").replace("_", r"\_").replace("%", r"\%")


def _file_bytes(file: Path) -> int:
    try:
        return file.stat().st_blocks * 512
    except OSError:
        return 0

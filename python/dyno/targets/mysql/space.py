"""The space of a database: by its files if they are on this machine, else by SQL."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from dyno.errors import DynoError
from dyno.targets.mysql.connection import MysqlConnection, literal
from dyno.targets.mysql.index import Step, StepLog
from dyno.workspace.footprint import Meter, Probe, folder_bytes


class Files:
    """The files of the private server, without its log."""

    def __init__(self, data: Path, volumes: Iterable[Path], temporary: Path, pid: int) -> None:
        """Attaches to a running server.

        Args:
            data: Its data folder.
            volumes: Its folders for tables on volumes.
            temporary: Its ``tmpdir``.
            pid: Its process id.
        """
        self._data, self._volumes = data, list(volumes)
        self.temporary = temporary
        self._pid = pid

    def total(self) -> int:
        """Bytes of tables, indexes, system tablespaces and temporary files."""
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
        """Bytes of temporary files in a folder, including open files without a name."""
        named, unnamed = folder_bytes(folder), 0
        descriptors = Path(f"/proc/{self._pid}/fd")
        with contextlib.suppress(OSError):
            for entry in os.scandir(descriptors):
                with contextlib.suppress(OSError):
                    path = str(Path(entry.path).readlink())
                    if path.startswith(f"{folder}/") and path.endswith(" (deleted)"):
                        unnamed += Path(entry.path).stat().st_blocks * 512
        return named + unnamed


class Sizes(StepLog):
    """Measures a step by the session's sort folder, or by all files for a table rebuild."""

    ALONE: ClassVar = frozenset({"cluster", "foreign key"})

    def __init__(
        self, meter: Meter, place: str, files: Files | None, owner: tuple[int, int]
    ) -> None:
        super().__init__(meter)
        self._place, self._files, self._owner = place, files, owner
        self._folders: dict[int, Path] = {}
        self._lock = threading.Lock()

    def _probe(self, step: Step, session: MysqlConnection) -> Probe | None:
        if self._files is None:
            return None
        if step.kind in self.ALONE:
            return self._files.total
        files, folder = self._files, self._folder(session, self._files)
        return lambda: files.spilled(folder)

    def _table_bytes(self, step: Step, before: int | None) -> int | None:  # noqa: ARG002
        return before

    def _folder(self, session: MysqlConnection, files: Files) -> Path:
        """The sort folder of a session, created and set on first use."""
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
    """Bytes of a table with its partitions, or of a database.

    If ``place`` ends in ``_``, it is the beginning of the names of several databases.

    Returns:
        None if this user lacks the privilege PROCESS.
    """
    source = "innodb_sys_tablespaces" if session.version.is_mariadb else "innodb_tablespaces"
    # `dyno_tpch` is not `dyno_tpch_2`; `dyno_` is both.
    more = "%" if place.endswith("_") else ""
    whole = f"name LIKE {literal(f'{_pattern(place)}{more}/%')}"
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

r"""Volumes as filegroups of a workload's database: one file on each, created and marked by Dyno.

A volume is a folder on the server's machine that the server's user may write to, such as ``/mnt/a``
or ``E:\data``; or ``tablespace:NAME`` for a filegroup that exists.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from dyno.contracts.layout import TABLESPACE, Layout
from dyno.contracts.target import Connection
from dyno.errors import DynoError, TargetError, UsageError, nearest
from dyno.targets.sqlserver.connection import literal, quoted

PRIMARY = "PRIMARY"
PREFIX = "dyno_"
MARK = "dyno"
"""The extended property of Dyno's filegroups; its value is the volume."""

_MIB = 1 << 20
_LEAST_MIB = 64
_PAGES_PER_MIB = 128
_FREED_S = 30.0
_POLL_S = 0.2
_CLASS = 20
"""Data spaces, in ``sys.extended_properties``."""


@dataclass(frozen=True)
class File:
    """A file of a database.

    Attributes:
        group: Its filegroup; empty for a log.
        path: On the server's machine.
    """

    name: str
    group: str
    path: str
    mib: int


@dataclass(frozen=True)
class Primary:
    """The first file of a new database, which a statement that places the log must name.

    Attributes:
        folder: The server's folder for data files.
        mib: Its size, at least that of the file of ``model``, which it is a copy of.
    """

    folder: str = ""
    mib: int = _LEAST_MIB

    @classmethod
    def like(cls, folder: str, pages: int) -> Primary:
        """The first file, given the pages of 8 KiB of that of ``model``."""
        return cls(folder, max(_LEAST_MIB, -(-pages // _PAGES_PER_MIB)))


def name_of(volume: str | None) -> str:
    """The filegroup of a volume: Dyno's, or the user's that it names; PRIMARY without one."""
    if volume is None:
        return PRIMARY
    if volume.startswith(TABLESPACE):
        return volume.removeprefix(TABLESPACE)
    return f"{PREFIX}{hashlib.sha256(volume.encode()).hexdigest()[:10]}"


def create_database(
    database: str, collation: str, layout: Layout | None = None, primary: Primary | None = None
) -> str:
    """``CREATE DATABASE``, with its log on the layout's volume if it names one.

    Args:
        database: Its name.
        collation: Its collation.
        layout: The layout.
        primary: Its first file, if the layout places the log.
    """
    text = f"CREATE DATABASE {quoted(database)}"
    if layout is not None and layout.log is not None:
        first = primary or Primary()
        data = _file(database, _joined(first.folder, f"{database}.mdf"), first.mib)
        log = _file(f"{database}_log", _joined(layout.log, f"{database}_log.ldf"), _LEAST_MIB)
        text += f" ON PRIMARY {data} LOG ON {log}"
    return f"{text} COLLATE {collation}"


def require(session: Connection, database: str, layout: Layout, *, exists: bool = True) -> None:
    """Rejects a layout if the log, tempdb or a filegroup of the user's is not where it says.

    Args:
        session: A session.
        database: The workload's database.
        layout: The layout.
        exists: Whether the database exists already.

    Raises:
        UsageError: With the statements that help.
    """
    problem = misplaced(session, database, layout, exists=exists)
    if problem:
        raise UsageError(f"Layout {layout.name}: {problem}")
    own = [volume for volume in layout.data_volumes() if volume.startswith(TABLESPACE)]
    present = groups(session, database) if own and exists else {}
    for volume in own:
        if name_of(volume) not in present:
            raise _unknown(layout, database, name_of(volume), present)


def ensure(session: Connection, database: str, layout: Layout) -> None:
    """Adds the missing filegroups of a layout to an existing database, with a file on each volume.

    Raises:
        UsageError: As :func:`require`.
        TargetError: If the server cannot use a folder.
    """
    placed = (*layout.data_volumes(), layout.log, layout.temp)
    if not layout.preallocate_bytes and not any(placed):
        return
    require(session, database, layout)
    present, filled = groups(session, database), {file.group for file in files(session, database)}
    for volume in added(layout, filled):
        _add(session, database, layout, volume, present)
    for name in _small(layout, files(session, database)):
        session.execute(enlarge(database, name, share_mib(layout)))


def added(layout: Layout, present: Container[str]) -> list[str]:
    """The volumes of a layout whose filegroups Dyno adds, given those that have a file."""
    return [
        volume
        for volume in layout.data_volumes()
        if not volume.startswith(TABLESPACE) and name_of(volume) not in present
    ]


def _add(
    session: Connection, database: str, layout: Layout, volume: str, present: Mapping[str, bool]
) -> None:
    """Adds a filegroup, or what it lacks since a load stopped; ``present`` as of :func:`groups`."""
    name = name_of(volume)
    group, note, file = add_group(database, volume, share_mib(layout))
    lacks = [] if name in present else [group]
    lacks += [] if present.get(name) else [note]
    try:
        for statement in (*lacks, file):
            session.execute(statement)
    except DynoError as error:
        raise _unusable(error, layout, volume) from error


def add_group(database: str, volume: str, mib: int) -> list[str]:
    """The statements that add a filegroup, mark it, and give it a file of ``mib`` MiB."""
    name = name_of(volume)
    path = _joined(volume, f"{database}_{name}.ndf")
    return [
        f"ALTER DATABASE {quoted(database)} ADD FILEGROUP {quoted(name)}",
        f"EXEC {quoted(database)}.sys.sp_addextendedproperty @name = {literal(MARK)}, "
        f"@value = {literal(volume)}, @level0type = N'FILEGROUP', @level0name = {literal(name)}",
        f"ALTER DATABASE {quoted(database)} ADD FILE {_file(name, path, mib)} "
        f"TO FILEGROUP {quoted(name)}",
    ]


def sweep(session: Connection, database: str, layout: Layout | None) -> list[str]:
    """Removes Dyno's filegroups that a layout does not use and that are empty.

    Returns:
        Names of the removed filegroups.
    """
    kept = {name_of(volume) for volume in (layout.data_volumes() if layout is not None else ())}
    gone: list[str] = []
    for name, ours in groups(session, database).items():
        if not ours or name in kept:
            continue
        try:
            _wait_until_freed(session, database, name)
            for file in files(session, database):
                if file.group == name:
                    remove = f"REMOVE FILE {quoted(file.name)}"
                    session.execute(f"ALTER DATABASE {quoted(database)} {remove}")
            session.execute(f"ALTER DATABASE {quoted(database)} REMOVE FILEGROUP {quoted(name)}")
        except DynoError:
            continue  # it has tables, or is part of a partition scheme
        gone.append(name)
    return gone


def _wait_until_freed(session: Connection, database: str, group: str) -> None:
    """Waits until the server has freed the space of dropped tables, which it does behind the drop.

    Source: Microsoft, "sys.allocation_units": units of type 0 are dropped and not yet freed.
    """
    place = quoted(database)
    left = (
        f"SELECT COUNT(*) FROM {place}.sys.allocation_units AS a "  # noqa: S608  (quoted)
        f"JOIN {place}.sys.filegroups AS g ON g.data_space_id = a.data_space_id "
        f"WHERE a.type = 0 AND g.name = {literal(group)}"
    )
    end = time.monotonic() + _FREED_S
    while session.execute(left).rows[0][0] and time.monotonic() < end:
        threading.Event().wait(_POLL_S)


def groups(session: Connection, database: str) -> dict[str, bool]:
    """All filegroups of a database, and whether they have Dyno's mark."""
    place = quoted(database)
    rows = session.execute(
        "SELECT g.name, e.value "  # noqa: S608  (quoted)
        f"FROM {place}.sys.filegroups AS g LEFT JOIN {place}.sys.extended_properties AS e "
        f"ON e.class = {_CLASS} AND e.major_id = g.data_space_id AND e.name = {literal(MARK)}"
    ).rows
    return {str(name): value is not None for name, value in rows}


def files(session: Connection, database: str) -> list[File]:
    """All files of a database."""
    place = quoted(database)
    rows = session.execute(
        "SELECT f.name, g.name, f.physical_name, CAST(f.size AS bigint) / 128 "  # noqa: S608  (quoted)
        f"FROM {place}.sys.database_files AS f LEFT JOIN {place}.sys.filegroups AS g "
        "ON g.data_space_id = f.data_space_id"
    ).rows
    return [
        File(str(name), str(group or ""), str(path), int(mib)) for name, group, path, mib in rows
    ]


def misplaced(session: Connection, database: str, layout: Layout, *, exists: bool = True) -> str:
    """Which of the log and tempdb is not on the volume of the layout, and what to run; or empty.

    The log of a database that does not exist yet will be there.
    """
    if layout.log is not None and exists:
        logs = [file for file in files(session, database) if not file.group]
        if wrong := _elsewhere(logs, layout.log):
            how = _move_log(database, wrong, layout)
            return f"the log of {database} is not on {layout.log}. {how}"
    if layout.temp is not None and (wrong := _elsewhere(files(session, "tempdb"), layout.temp)):
        return f"tempdb is not on {layout.temp}. {_move_tempdb(wrong, layout.temp)}"
    return ""


def deviations(session: Connection, database: str, layout: Layout) -> list[str]:
    """Whether the log or tempdb has left the volume of the layout since the load."""
    found: list[str] = []
    logs = [file for file in files(session, database) if not file.group]
    if layout.log is not None and _elsewhere(logs, layout.log):
        found.append(f"The log is no longer on {layout.log}, but in {logs[0].path}.")
    if layout.temp is not None and (wrong := _elsewhere(files(session, "tempdb"), layout.temp)):
        found.append(f"Temporary files are no longer on {layout.temp}, but in {wrong[0].path}.")
    return found


def within(folder: str, path: str) -> bool:
    """Whether a file is in a folder or below it, by the rules of the server's system."""
    return _pure(path).is_relative_to(_pure(folder))


def folder_of(path: str) -> str:
    """The name of a file's folder, by the rules of the server's system."""
    return _pure(path).parent.name


def moves(database: str, found: Iterable[File], folder: str) -> Iterator[str]:
    """The statements that let files be in another folder, once they are opened again."""
    for file in found:
        path = _joined(folder, _pure(file.path).name)
        yield (
            f"ALTER DATABASE {quoted(database)} MODIFY FILE (NAME = {literal(file.name)}, "
            f"FILENAME = {literal(path)});"
        )


def _elsewhere(found: Iterable[File], folder: str) -> list[File]:
    return [file for file in found if not within(folder, file.path)]


def enlarge(database: str, file: str, mib: int) -> str:
    """The statement that gives a file its preallocated space."""
    size = f"SIZE = {mib}MB"
    return f"ALTER DATABASE {quoted(database)} MODIFY FILE (NAME = {literal(file)}, {size})"


def _small(layout: Layout, present: Iterable[File]) -> Iterator[str]:
    """The files of a layout that have less space than it preallocates."""
    if not layout.preallocate_bytes:
        return
    wanted = {name_of(volume) for volume in layout.data_volumes()} or {PRIMARY}
    for file in present:
        if file.group in wanted and file.mib < share_mib(layout):
            yield file.name


def share_mib(layout: Layout) -> int:
    """The size of the file on each volume."""
    count = max(1, len(layout.data_volumes()))
    return max(_LEAST_MIB, -(-layout.preallocate_bytes // count // _MIB))


def _file(name: str, path: str, mib: int) -> str:
    """A file specification. It grows by a tenth of its size, by a fixed amount, at least 64 MB."""
    growth = max(_LEAST_MIB, mib // 10)
    return (
        f"(NAME = {literal(name)}, FILENAME = {literal(path)}, SIZE = {mib}MB, "
        f"FILEGROWTH = {growth}MB)"
    )


def _pure(path: str) -> PurePath:
    windows = PureWindowsPath(path)
    return windows if windows.is_absolute() and windows.drive else PurePosixPath(path)


def _joined(folder: str, name: str) -> str:
    return str(_pure(folder) / name)


def _move_log(database: str, found: Iterable[File], layout: Layout) -> str:
    return "Move it, with the database offline: " + " ".join(
        [
            *moves(database, found, layout.log or ""),
            f"ALTER DATABASE {quoted(database)} SET OFFLINE WITH ROLLBACK IMMEDIATE; "
            f"(move the file) ALTER DATABASE {quoted(database)} SET ONLINE;",
        ]
    )


def _move_tempdb(found: Iterable[File], folder: str) -> str:
    listed = " ".join(moves("tempdb", found, folder))
    never = "tempdb moves when the server restarts, which Dyno never does"
    return f"{never}: {listed} Then restart it."


def _unknown(layout: Layout, database: str, name: str, present: Iterable[str]) -> UsageError:
    add = f"ALTER DATABASE {quoted(database)} ADD FILEGROUP {quoted(name)};"
    if not (known := list(present)):
        return UsageError(
            f"Layout {layout.name} uses the filegroup '{name}' of {database}, which does not exist "
            f"yet. Create both, and a file: CREATE DATABASE {quoted(database)}; {add}"
        )
    return UsageError(
        f"Layout {layout.name}: {database} has no filegroup '{name}'. "
        f"{nearest(name, known)} Or add it, and a file: {add}"
    )


def _unusable(error: DynoError, layout: Layout, volume: str) -> DynoError:
    text = str(error)
    if not any(word in text for word in ("5123", "5133", "5169", "5170", "rror occurred while")):
        return error
    return TargetError(
        f"Layout {layout.name}: the server cannot use {volume}: {text} It must be a folder on the "
        "server's machine that the server's user may write to: on Linux, install -d -o mssql -g "
        f"mssql -m 770 {volume}; on Windows, give the service account full control of it.",
        kind="io",
    )

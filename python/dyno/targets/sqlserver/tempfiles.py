"""Data files of tempdb: a run adds some, and its end removes them again.

A run's files have numbers in their names: from one more than there were files, to the requested
count. So they are known even if adding or removing them stopped half-way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

from dyno.contracts.target import Connection
from dyno.targets.sqlserver.connection import literal, quoted

OWN = "dyno_temp_{}"
QUERY = (
    "SELECT name, physical_name, CAST(size AS bigint) * 8, CAST(growth AS bigint), "
    "CAST(is_percent_growth AS int), CASE WHEN max_size > 0 THEN CAST(max_size AS bigint) * 8 END "
    "FROM tempdb.sys.database_files WHERE type = 0 ORDER BY file_id"
)
_MOST_KIB = (1 << 31) - 1
"""The largest number that ALTER DATABASE takes before KB."""


@dataclass(frozen=True)
class TempFile:
    """A data file of tempdb; its growth is in pages of 8 KiB, or in percent.

    Attributes:
        most_kib: The size up to which it grows; None without a limit.
    """

    name: str
    path: str
    kib: int
    growth: int
    percent: bool
    most_kib: int | None = None

    @property
    def growth_text(self) -> str:
        """As ALTER DATABASE writes it."""
        return f"{self.growth}%" if self.percent else f"{self.growth * 8}KB"


def read(session: Connection) -> list[TempFile]:
    """The files, the oldest first.

    Raises:
        DynoError: If this user may not read them.
    """
    return [
        TempFile(
            str(name),
            str(path),
            int(kib),
            int(growth),
            bool(percent),
            None if most is None else int(most),
        )
        for name, path, kib, growth, percent, most in session.execute(QUERY).rows
    ]


def add(count: int, present: Sequence[TempFile]) -> list[str]:
    """The statements that add files like the first one, up to ``count``."""
    return [_add(present[0], number) for number in range(len(present) + 1, count + 1)]


def remove(before: int, count: int, present: Sequence[TempFile]) -> list[str]:
    """The statements that remove what is there of the files that :func:`add` adds.

    Args:
        before: The number of files before.
        count: The number that was requested.
        present: The files now.
    """
    there = {file.name for file in present}
    own = [OWN.format(number) for number in range(count, before, -1)]
    return [
        statement
        for name in own
        if name in there
        for statement in (
            f"USE {quoted('tempdb')}; DBCC SHRINKFILE ({literal(name)}, EMPTYFILE) "
            "WITH NO_INFOMSGS",
            f"ALTER DATABASE {quoted('tempdb')} REMOVE FILE {quoted(name)}",
        )
    ]


def _add(like: TempFile, number: int) -> str:
    windows = PureWindowsPath(like.path)
    folder = windows.parent if windows.drive else PurePosixPath(like.path).parent
    name = OWN.format(number)
    most = "" if like.most_kib is None else f", MAXSIZE = {_size(like.most_kib)}"
    return (
        f"ALTER DATABASE {quoted('tempdb')} ADD FILE (NAME = {literal(name)}, "
        f"FILENAME = {literal(str(folder / f'{name}.ndf'))}, SIZE = {_size(like.kib)}{most}, "
        f"FILEGROWTH = {like.growth_text})"
    )


def _size(kib: int) -> str:
    return f"{kib}KB" if kib <= _MOST_KIB else f"{-(-kib // 1024)}MB"

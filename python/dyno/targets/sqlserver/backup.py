"""An online backup: ``BACKUP DATABASE … TO DISK``, verified by ``RESTORE VERIFYONLY``.

The server writes the file, into its folder of backups or one that its service may write to. Dyno
removes the file with ``xp_delete_file``, which needs sysadmin; if it cannot, it names the file.
A copy-only backup leaves the chain of the DBA's own backups alone.

Source: Microsoft, "BACKUP (Transact-SQL)", "RESTORE Statements - VERIFYONLY", "… HEADERONLY".
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate, Written
from dyno.errors import DynoError
from dyno.targets.sqlserver.connection import literal, quoted
from dyno.targets.sqlserver.database import CREATE_RIGHT
from dyno.targets.sqlserver.version import Version
from dyno.targets.sqlserver.work import Connect, Work

FOLDER = "SELECT CAST(SERVERPROPERTY('InstanceDefaultBackupPath') AS nvarchar(4000))"
"""NULL before SQL Server 2019: then the server puts a bare name into that folder."""
SIZE = "SELECT SUM(a.used_pages) * 8192 FROM sys.allocation_units AS a"  # the pages that are copied
HEADER = "RESTORE HEADERONLY FROM DISK = {}"
VERIFY = "RESTORE VERIFYONLY FROM DISK = {} WITH CHECKSUM"
REMOVE = "EXECUTE master.sys.xp_delete_file 0, {}"
_UNCOMPRESSED = ("Express", "Web")
_COPIED, _COMPRESSED = "BackupSize", "CompressedBackupSize"
CLOUD = "an Azure SQL Managed Instance takes its own backups, and BACKUP there writes to URLs only"


def compresses(version: Version) -> bool:
    """Whether an edition compresses backups."""
    return not version.edition.startswith(_UNCOMPRESSED)


def backup_statement(database: str, file: str, *, compressed: bool) -> str:
    """The backup of a database into a file, which it overwrites."""
    option = "COMPRESSION" if compressed else "NO_COMPRESSION"
    return (
        f"BACKUP DATABASE {quoted(database)} TO DISK = {literal(file)} "
        f"WITH COPY_ONLY, {option}, CHECKSUM, FORMAT, INIT"
    )


class DatabaseBackup(Work):
    """Implements the protocol. The time includes writing, not verification."""

    name = "backup"

    def __init__(self, connect: Connect, workload: str) -> None:
        """Opens the sessions; writes nothing yet."""
        self.written = Written()
        self.file = ""
        self._left = False
        super().__init__(connect, workload)

    def _prepare(self) -> None:
        self._compressed = compresses(self.session.version)
        folder = str(self.session.execute(FOLDER).rows[0][0] or "")
        name = f"dyno_{self.place}_{secrets.token_hex(6)}.bak"
        self.file, self._bare = joined(folder, name), not folder
        size = int(self.session.execute(SIZE).rows[0][0] or 0)
        self.estimate = SpaceEstimate(
            size, "pages in use of the database, on the server's volume; compression needs less"
        )
        option = "COMPRESSION" if self._compressed else "without compression in this edition"
        self.method = (
            f"BACKUP DATABASE of the workload's database TO DISK with COPY_ONLY, CHECKSUM, "
            f"{option}, into {folder or 'the folder of backups'} of the server; RESTORE VERIFYONLY"
        )

    def close(self) -> None:
        """Removes the file, and ends the sessions."""
        if self._left:
            self._removed()
        super().close()

    def _steps(self) -> Sequence[str]:
        return [self.place]

    def _work(self, step: str) -> Check:
        statement = backup_statement(step, self.file, compressed=self._compressed)
        self._left = True
        start = time.monotonic()
        self.session.execute(statement, "GRANT BACKUP DATABASE")
        seconds = time.monotonic() - start
        header = self.session.execute(HEADER.format(literal(self.file)), CREATE_RIGHT)
        size = size_of(header.columns, header.rows[0]) if header.rows else 0
        message, passed = f"{size:,} bytes, verified", True
        try:
            self.session.execute(VERIFY.format(literal(self.file)), CREATE_RIGHT)
        except DynoError as error:
            if error.kind != "database":
                raise
            message, passed = f"RESTORE VERIFYONLY: {error}", False
        self.written.seconds += seconds
        self.written.size += size
        if not self._removed():
            message += f"; Dyno may not remove {self.file} from the server: remove it"
        return self._check(step, message, passed=passed)

    def _removed(self) -> bool:
        try:
            path = self._path()
            self.session.execute(REMOVE.format(literal(path)))
        except DynoError:
            return False
        self.file, self._bare = path, False
        self._left = False
        return True

    def _path(self) -> str:
        """The file with its folder: ``xp_delete_file`` finds no bare name.

        Raises:
            DynoError: If the login may not read it.
        """
        if not self._bare:
            return self.file
        rows = self.session.execute(path_query(self.file)).rows
        return str(rows[0][0]) if rows else self.file

    def space(self) -> int | None:
        """None: the server does not report the size of a backup that it writes."""
        return None


def path_query(name: str) -> str:
    """The query for the path of a backup with a bare name."""
    return (
        "SELECT physical_device_name FROM msdb.dbo.backupmediafamily "  # noqa: S608  (quoted)
        f"WHERE RIGHT(physical_device_name, {len(name)}) = {literal(name)}"
    )


def joined(folder: str, name: str) -> str:
    """A file in a folder of the server, in the syntax of its operating system."""
    if not folder:
        return name
    separator = "\\" if "\\" in folder else "/"
    return f"{folder.rstrip(separator)}{separator}{name}"


def size_of(names: Sequence[str], row: Sequence[object]) -> int:
    """Bytes of the file, by a row of RESTORE HEADERONLY."""
    by_name = dict(zip(names, row, strict=True))
    return int(str(by_name.get(_COMPRESSED) or by_name.get(_COPIED) or 0))

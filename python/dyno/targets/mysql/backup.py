"""An online backup of MariaDB and MySQL: one consistent dump."""

from __future__ import annotations

import shutil
import subprocess
import threading
from contextlib import closing
from pathlib import Path

from dyno.bundle.model import Check
from dyno.contracts import schema
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import TargetError
from dyno.targets import mark
from dyno.targets.backup import Backup
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.connection import MysqlConnection, literal

_SIZE = (
    "SELECT coalesce(sum(data_length), 0) FROM information_schema.tables WHERE table_schema = {}"
)
_FILE = "dump.sql"
_TAIL = 256


class Dump(Backup):
    """Implements the protocol. The workload's tables as statements, in one snapshot."""

    def __init__(
        self, session: MysqlConnection, address: Address, program: str, out: Path, workload: str
    ) -> None:
        """Prepares the backup; reads sizes through ``session``, which stays the caller's.

        Raises:
            DiskFullError: If there is not enough space.
            TargetError: If the folder cannot be used.
        """
        self.method = (
            f"{Path(program).name} --single-transaction of the workload's tables: a logical "
            "dump of one consistent snapshot, synced"
        )
        self._mysqldump = program
        self._place = mark.schema_of(workload)
        self._tables = schema.visible_names(workload)
        size = session.execute(_SIZE.format(literal(self._place))).rows[0][0]
        source = "the server's estimate of all table sizes; a text dump may be larger"
        super().__init__(out, SpaceEstimate(int(size), source))
        try:
            # Must be the first option. The password appears in no process list and no log.
            text = options(address, mariadb=_is_mariadb(program))
            self._defaults = self.scratch.secret("client.cnf", text)
        except BaseException:
            self.close()
            raise

    def _write(self, place: Path, stop: threading.Event, progress: Progress) -> None:  # noqa: ARG002
        command = [
            self._mysqldump,
            f"--defaults-file={self._defaults}",
            "--single-transaction",
            "--quick",
            "--no-tablespaces",
            f"--result-file={place / _FILE}",
            self._place,
            *self._tables,
        ]
        self.program.run(command, place, stop)

    def _proven(self, place: Path) -> Check:
        return self.proven(place / _FILE)

    def proven(self, file: Path) -> Check:
        """Whether the dump is complete: its last line is written after all rows."""
        try:
            with file.open("rb") as opened:
                opened.seek(max(0, file.stat().st_size - _TAIL))
                passed = b"-- Dump completed" in opened.read()
        except OSError as error:
            raise TargetError(f"Cannot read the backup: {error.strerror}.", kind="io") from error
        message = f"{len(self._tables)} tables, complete"
        if not passed:
            message = "the dump is incomplete: its last line is missing"
        return Check(name="backup", target="mysql", passed=passed, message=message)


def take(session: MysqlConnection, address: Address, out: Path, workload: str) -> Dump | str:
    """The backup, or the reason why it is impossible; closes the session."""
    with closing(session):
        names = ["mariadb-dump", "mysqldump"] if session.version.is_mariadb else ["mysqldump"]
        program = next(filter(None, map(shutil.which, names)), None)
        if program is None:
            return f"{names[0]} is not installed (Debian and Ubuntu: apt install mariadb-client)"
        if not session.version.is_mariadb and _is_mariadb(program):
            return "a dump of MySQL needs MySQL's mysqldump; the installed one is MariaDB's"
        return Dump(session, address, program, out, workload)


def options(address: Address, *, mariadb: bool) -> str:
    """An option file with the server's address for its clients; contains the password.

    Source: https://mariadb.com/kb/en/configuring-mariadb-with-option-files/.
    """
    lines = ["[client]", f"user={_quoted(address.user)}", f"password={_quoted(address.password)}"]
    if address.unix_socket:
        lines += ["protocol=socket", f"socket={_quoted(address.unix_socket)}"]
    else:
        lines += ["protocol=tcp", f"host={_quoted(address.host)}", f"port={address.port}"]
    checked = address.tls is not None and bool(address.tls.get("ca"))
    if mariadb:
        lines += ["skip-ssl"] if address.tls is None else ["ssl"]
        if address.tls is not None:
            lines.append(f"ssl-verify-server-cert={int(checked)}")
    elif address.tls is None:
        lines.append("ssl-mode=DISABLED")
    else:
        lines.append(f"ssl-mode={'VERIFY_IDENTITY' if checked else 'REQUIRED'}")
    for name in ("ca", "cert", "key"):
        if address.tls is not None and address.tls.get(name):
            lines.append(f"ssl-{name}={_quoted(str(address.tls[name]))}")
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def _is_mariadb(program: str) -> bool:
    """Whether a client program is MariaDB's, by its version output."""
    try:
        done = subprocess.run(
            [program, "--no-defaults", "--version"],
            check=False,
            capture_output=True,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError):
        return True
    return "mariadb" in done.stdout.lower()

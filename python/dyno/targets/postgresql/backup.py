"""An online backup of PostgreSQL: ``pg_basebackup``."""

from __future__ import annotations

import json
import tarfile
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import TargetError
from dyno.targets.backup import Backup
from dyno.targets.patience import CONNECT_S
from dyno.targets.postgresql import binaries
from dyno.targets.postgresql.connection import PostgresConnection

SETTINGS = {"wal_level": "replica", "max_wal_senders": "4"}
"""Settings that a server needs for an online backup."""

_SEGMENTS = 4
"""Minimum number of WAL segments in a backup, including partial ones."""
_SIZE = (
    "SELECT (SELECT sum(pg_database_size(oid)) FROM pg_database)::bigint, "
    "pg_size_bytes(current_setting('wal_segment_size'))"
)


def obstacle(session: PostgresConnection) -> str | None:
    """Why the session's server cannot be backed up; None if it can."""
    if session.execute("SHOW wal_level").rows[0][0] == "minimal":
        return "the server has wal_level = minimal; a backup needs replica"
    if session.raw.info.get_parameters().get("sslpassword"):
        return "the certificate's key has a passphrase, which pg_basebackup would expose"
    parameters = {
        **session.raw.info.get_parameters(),
        "password": session.raw.info.password,
        "connect_timeout": str(CONNECT_S),
        "replication": "true",
    }
    try:
        psycopg.connect(make_conninfo("", **parameters), autocommit=True).close()
    except psycopg.Error as error:
        text = " ".join(str(error).split()).rpartition("FATAL: ")[2].strip().rstrip(".")
        return f"the server does not allow this user to replicate, which a backup needs ({text})"
    return None


class ServerBackup(Backup):
    """Implements the protocol. All databases of the server as tar files, with the required WAL."""

    method = (
        "pg_basebackup of the whole server: tar files and the write-ahead log, after "
        "an immediate checkpoint, synced; verified against its manifest"
    )

    def __init__(self, session: PostgresConnection, out: Path) -> None:
        """Prepares the backup; reads the address from ``session``, which stays the caller's.

        Raises:
            DiskFullError: If there is not enough space.
            TargetError: If the server or the folder cannot be used.
        """
        program = binaries.find().program("pg_basebackup")
        size, segment = session.execute(_SIZE).rows[0]
        estimate = SpaceEstimate(
            int(size) + _SEGMENTS * int(segment),
            "all databases of the server, and a short part of the log",
        )
        super().__init__(out, estimate)
        self._pg_basebackup = program
        try:
            self._conninfo = self._reach(session)
        except BaseException:
            self.close()
            raise

    def _write(self, place: Path, stop: threading.Event, progress: Progress) -> None:  # noqa: ARG002
        options = ["--format=tar", "--wal-method=stream", "--checkpoint=fast", "--no-password"]
        where = [f"--dbname={self._conninfo}", f"--pgdata={place}"]
        self.program.run([self._pg_basebackup, *where, *options], place, stop)

    def _proven(self, place: Path) -> Check:
        return proven(place)

    def _reach(self, session: PostgresConnection) -> str:
        """The server's address without its password, which is in a private file."""
        info = session.raw.info
        parameters = {**info.get_parameters(), "connect_timeout": str(CONNECT_S)}
        parameters.pop("dbname", None)
        parameters.update(host=info.host, port=str(info.port), user=info.user)
        if info.password:
            escaped = info.password.replace("\\", "\\\\").replace(":", "\\:")
            file = self.scratch.secret("pgpass", f"*:*:*:*:{escaped}\n")
            parameters["passfile"] = str(file)
        return make_conninfo("", **parameters)


def take(session: PostgresConnection, out: Path) -> ServerBackup | str:
    """The backup, or the reason why it is impossible; closes the session."""
    with closing(session):
        return obstacle(session) or ServerBackup(session, out)


def proven(place: Path) -> Check:
    """Whether the tar files contain every file of the manifest, each with its size."""
    try:
        manifest = json.loads((place / "backup_manifest").read_text(encoding="utf-8"))
        wanted = {_path(item): int(item["Size"]) for item in manifest["Files"]}
        held = {name: size for file in place.glob("*.tar") for name, size in _held(file)}
        log = sum(size for _, size in _held(place / "pg_wal.tar"))
    except (OSError, ValueError, KeyError, tarfile.TarError) as error:
        raise TargetError(f"Cannot read the backup: {error}.", kind="database") from error
    wrong = sorted(name for name, size in wanted.items() if held.get(name) != size)
    passed = not wrong and bool(wanted) and log > 0
    message = f"{len(wanted):,} files, complete, and {log:,} bytes of log"
    if wrong:
        message = (
            f"{len(wrong):,} of {len(wanted):,} files are missing or incomplete, first {wrong[0]}"
        )
    elif not passed:
        message = "it contains no files, or no log"
    return Check(name="backup", target="postgresql", passed=passed, message=message)


def _path(item: dict[str, Any]) -> str:
    # The manifest has non-UTF-8 names in hexadecimal.
    if "Path" in item:
        return str(item["Path"])
    return bytes.fromhex(str(item["Encoded-Path"])).decode("utf-8", "surrogateescape")


def _held(file: Path) -> list[tuple[str, int]]:
    """The regular files of a tar file, with their paths in the manifest."""
    # The tar file of a tablespace is named after its OID.
    head = f"pg_tblspc/{file.stem}/" if file.stem.isdigit() else ""
    with tarfile.open(file) as opened:
        return [
            (f"{head}{item.name.removeprefix('./')}", item.size) for item in opened if item.isfile()
        ]

"""Debian's PostgreSQL with checksums and syncs, which is stopped and started in a test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.conftest import missing
from tests.targets.debian import SERVER_UID, as_server

DEBIAN = Path("/usr/lib/postgresql")


class Cluster:
    """A server whose data is in the folder ``main`` of a folder.

    Attributes:
        folder: Its data folder.
        at: Options of its clients.
    """

    def __init__(self, above: Path) -> None:
        found = sorted(DEBIAN.glob("*/bin"))
        if not found:
            missing("the operating system's PostgreSQL")
        self.programs, self.folder = found[-1], above / "main"
        for parent in (above, *above.parents):
            if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)
        self._socket = above.parent / "s"
        self._socket.mkdir()
        for own in (above, self._socket):
            os.chown(own, SERVER_UID, SERVER_UID)
        self.at = ("-h", str(self._socket), "-p", "5499", "-U", "postgres")

    def make(self) -> None:
        self.run("initdb", "-D", self.folder, "--data-checksums", "-A", "trust", "-U", "postgres")

    def run(self, program: str, *arguments: str | Path) -> str:
        command = [*as_server(), str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd="/",
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def ask(self, sql: str) -> str:
        return self.run("psql", *self.at, "-Atc", sql).strip()

    def start(self) -> None:
        options = f"-k {self._socket} -p 5499 -c listen_addresses= -c shared_buffers=8MB"
        self.run("pg_ctl", "-D", self.folder, "-w", "-o", options, "-l", f"{self._socket}/log",
                 "start")  # fmt: skip

    def stop(self) -> None:
        self.run("pg_ctl", "-D", self.folder, "-w", "-m", "fast", "stop")

    def end(self) -> None:
        if (self.folder / "postmaster.pid").exists():
            self.stop()

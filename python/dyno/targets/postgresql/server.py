"""The private PostgreSQL: configuration, launch and restore."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from dyno.contracts.target import Limits
from dyno.errors import TargetError
from dyno.servers import home, sockets
from dyno.servers.identity import Identity, choose
from dyno.servers.private import PrivateServer
from dyno.servers.volume import VolumeFacts
from dyno.targets.postgresql import binaries, cluster, wal
from dyno.targets.postgresql.checksums import Checksums
from dyno.targets.postgresql.product import POSTGRESQL, PROGRAM
from dyno.targets.postgresql.settings import conf, settings
from dyno.targets.postgresql.tablespaces import Home

PORT = 5432
SOCKET = f".s.PGSQL.{PORT}"
"""Name of the socket, which libpq derives from the port."""


class Server(PrivateServer[binaries.Binaries]):
    """A private PostgreSQL."""

    PRODUCT: ClassVar = POSTGRESQL
    FULL: ClassVar = "too many clients"

    def __init__(self, folder: Path, limits: Limits) -> None:
        super().__init__(folder, limits)
        self.socket_folder = folder / "s"
        self._checksums = Checksums(folder)
        self._kept: Home | None = None
        self.override: Callable[[dict[str, str]], dict[str, str]] = lambda _: {}
        """Applies the run's settings to the ones that :func:`settings` chose."""
        self.extra: dict[str, str] = {}
        """Settings that the run's maintenance requires."""
        self.asked_checksums: str | None = None
        self.usual_checksums = ""

    def conninfo(self) -> dict[str, Any]:
        """The libpq parameters to reach it."""
        return {
            "host": str(self.socket_folder),
            "port": str(PORT),
            "user": cluster.SUPERUSER,
            "dbname": "postgres",
        }

    def large_pages_needed(self) -> int | None:
        """Huge pages that a start needs; None if the server does not report it."""
        with contextlib.suppress(TargetError):
            programs = binaries.find()
            identity = choose(
                os.geteuid(),
                self.data.stat().st_uid,
                self._home,
                programs.program(PROGRAM),
                POSTGRESQL.name,
            )
            question = ["-C", "shared_memory_size_in_huge_pages", "-D", str(self.data)]
            question += [word for pair in self.settings.items() for word in ("-c", "=".join(pair))]
            code, printed = identity.run([programs.program(PROGRAM), *question], self.data)
            last = printed.strip().splitlines()[-1:]
            if code == 0 and last and last[0].isdigit():
                return int(last[0])
        return None

    @property
    def restored(self) -> bool:
        """Whether the folder has no settings of a run left."""
        return self._kept is None and self._checksums.restored

    def _find(self) -> binaries.Binaries:
        return binaries.find()

    def _program(self) -> str:
        return PROGRAM

    def _prepare(self, programs: binaries.Binaries) -> Identity:
        self.data, identity = cluster.prepare(self._home, programs, self._lock.descriptor)
        return identity

    def _put_up(self, own: Home, *, resumed: bool) -> None:
        wal.mend(self.data)
        if self.log_volume is not False:
            wal.place(self.data, own, self.log_volume)
        self.socket_folder = sockets.make(self._home, own.identity.owner, SOCKET)
        self._kept = own
        if not resumed:
            self._configure(own)
        self._write_conf(self.settings, own.identity)
        self.usual_checksums = self._checksums.before_start(
            self.asked_checksums, own.programs, own.identity, self._recover
        )
        self._launch(own)

    def _configure(self, own: Home) -> None:
        io_uring = cluster.offers_io_uring(own.identity, self.data, own.programs)
        self.usual = settings(self._limits, VolumeFacts.noted(self._home), io_uring=io_uring)
        self.settings = {**self.usual, **self.override(self.usual), **self.extra}

    def _write_conf(self, values: dict[str, str], identity: Identity) -> None:
        folder = str(self.socket_folder).replace('"', '""')
        reach = {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": f'"{folder}"',  # a list: quoted because of commas
            "unix_socket_permissions": "0700",
        }
        cluster.write_conf(self.data, conf({**reach, **values}), identity)

    def _recover(self) -> None:
        """Recovers a cluster that was not shut down: starts it and stops it cleanly.

        Raises:
            TargetError: If it does not start.
        """
        if self._kept is not None:
            try:
                self._launch(self._kept)
                self._daemon.await_ready(self._refusal, self._recovers)
            finally:
                self.pause()

    def _restore(self) -> None:
        if self._kept is None:
            return
        programs, identity = self._kept.programs, self._kept.identity
        try:
            with home.readable_errors(self._home, POSTGRESQL.name):
                if self.settings != self.usual:
                    self._write_conf(self.usual, identity)
                self._checksums.after_stop(programs, identity, self._recover)
        finally:
            self._kept = None

    def _launch(self, own: Home) -> None:
        # Sessions that compute end at once after a failure, not when they are done.
        self._daemon.launch(
            own.identity,
            [own.programs.program(PROGRAM), "-D", str(self.data)],
            self.data,
            self._lock.descriptor,
            after_failure=self._evict,
        )

    def _refusal(self) -> str | None:
        import psycopg

        try:
            psycopg.connect(**self.conninfo(), connect_timeout=5).close()
        except psycopg.OperationalError as error:
            return " ".join(str(error).split())
        return None

    def _recovers(self, refusal: str) -> bool:
        return "starting up" in refusal or "not yet accepting" in refusal

"""The life of the private server: started, watched, stopped; it never outlives Dyno."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from dyno.contracts.target import Limits
from dyno.errors import DynoError, TargetError
from dyno.servers import home, sockets
from dyno.servers.daemon import Daemon
from dyno.servers.identity import Identity, choose
from dyno.servers.lock import EngineLock
from dyno.servers.processes import evict
from dyno.servers.serverlog import ServerLog
from dyno.servers.volume import VolumeFacts
from dyno.targets.postgresql import binaries, cluster, tablespaces, wal
from dyno.targets.postgresql.checksums import Checksums
from dyno.targets.postgresql.product import POSTGRESQL, PROGRAM
from dyno.targets.postgresql.settings import conf, settings

PORT = 5432
SOCKET = f".s.PGSQL.{PORT}"
"""Name of the socket, which libpq derives from the port."""

_LEFTOVER_S = 10.0


class Server:
    """A PostgreSQL of Dyno's own in ``home``, reached through a unix socket only.

    It never outlives Dyno: see :class:`~dyno.servers.daemon.Daemon`.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._home = folder
        self._limits = limits
        self._lock = EngineLock(folder, POSTGRESQL.name)
        log = ServerLog(folder / "server.log")
        self._daemon = Daemon(POSTGRESQL, log, limits.launch, limits.killed)
        self.data = folder / "data"
        self.log_volume: str | Literal[False] | None = False
        """Where the next start puts the log: a volume, None for beside the data, False for where
        it is."""
        self.own: tablespaces.Home | None = None
        self.socket_folder = folder / "s"
        self._checksums = Checksums(folder)
        self._kept: tuple[Identity, binaries.Binaries] | None = None
        self.override: Callable[[dict[str, str]], dict[str, str]] = lambda _: {}
        """What a run asks for in the place of what :func:`settings` chose, which it is given."""
        self.extra: dict[str, str] = {}
        """What maintenance of this run cannot do without."""
        self.asked_checksums: str | None = None
        self.usual_checksums = ""
        self.usual: dict[str, str] = {}
        self.settings: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        """Process id of the postmaster, None if it does not run."""
        return self._daemon.pid

    def conninfo(self) -> dict[str, Any]:
        """How libpq reaches it."""
        return {
            "host": str(self.socket_folder),
            "port": str(PORT),
            "user": cluster.SUPERUSER,
            "dbname": "postgres",
        }

    def start(self) -> None:
        """Starts it and waits until it takes sessions.

        Raises:
            TargetError: If it cannot be started, with the server's own reason.
        """
        try:
            programs = binaries.find()
            with home.readable_errors(self._home, POSTGRESQL.name):
                home.make(self._home)
                resumed = self._lock.descriptor >= 0
                if not resumed:
                    self._lock.acquire(_LEFTOVER_S, self._evict)
                self.data, identity = cluster.prepare(self._home, programs, self._lock.descriptor)
                self.own = tablespaces.Home(self._home, identity, programs)
                wal.mend(self.data)
                if self.log_volume is not False:
                    wal.place(self.data, self.own, self.log_volume)
                self.socket_folder = sockets.make(self._home, identity.owner, SOCKET)
                self._kept = identity, programs
                if not resumed:
                    self._configure(identity, programs)
                self._write_conf(self.settings, identity)
                self.usual_checksums = self._checksums.before_start(
                    self.asked_checksums, programs, identity, self._recover
                )
                self._launch(identity, programs)
            self._daemon.await_ready(self._refusal, _recovers)
        except BaseException:
            with contextlib.suppress(TargetError):  # what came first is told
                self.stop()
            raise

    def stop(self) -> None:
        """Ends it, politely at first, and restores what was changed for a run.

        Raises:
            KeyboardInterrupt: After it has ended.
            TargetError: If something could not be restored; the next start tries again.
        """
        try:
            self.pause()
        finally:
            if self._lock.descriptor >= 0:
                self._evict()
                try:
                    self._restore()
                finally:
                    sockets.remove(self._home)
                    self._lock.release()

    def large_pages_needed(self) -> int | None:
        """Large pages that a start as configured takes; None if the server does not tell."""
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
        """Whether nothing of a run's settings is left in the folder."""
        return self._kept is None and self._checksums.restored

    def pause(self) -> None:
        """Ends it, but keeps its folder locked and set, for :meth:`start` to go on.

        Raises:
            KeyboardInterrupt: After it has ended.
        """
        self._daemon.end()

    def exit_reason(self) -> DynoError | None:
        """Why sessions broke: what ended the server.

        See :meth:`dyno.servers.daemon.Daemon.exit_reason`.
        """
        return self._daemon.exit_reason(self._answers)

    def _configure(self, identity: Identity, programs: binaries.Binaries) -> None:
        io_uring = cluster.offers_io_uring(identity, self.data, programs)
        self.usual = settings(self._limits, VolumeFacts.noted(self._home), io_uring=io_uring)
        self.settings = {**self.usual, **self.override(self.usual), **self.extra}

    def _write_conf(self, values: dict[str, str], identity: Identity) -> None:
        folder = str(self.socket_folder).replace('"', '""')
        reach = {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": f'"{folder}"',  # a list: quoted for commas
            "unix_socket_permissions": "0700",
        }
        cluster.write_conf(self.data, conf({**reach, **values}), identity)

    def _recover(self) -> None:
        """Brings a cluster that was not shut down to where it can be: up, and down in order.

        Raises:
            TargetError: If it does not come up.
        """
        if self._kept is not None:
            try:
                self._launch(*self._kept)
                self._daemon.await_ready(self._refusal, _recovers)
            finally:
                self.pause()

    def _restore(self) -> None:
        """Leaves the folder as a run without settings of its own would."""
        if self._kept is None:
            return
        identity, programs = self._kept
        try:
            with home.readable_errors(self._home, POSTGRESQL.name):
                if self.settings != self.usual:
                    self._write_conf(self.usual, identity)
                self._checksums.after_stop(programs, identity, self._recover)
        finally:
            self._kept = None

    def _launch(self, identity: Identity, programs: binaries.Binaries) -> None:
        # Sessions that compute break at once when it has failed, not when they are done.
        self._daemon.launch(
            identity,
            [programs.program(PROGRAM), "-D", str(self.data)],
            self.data,
            self._lock.descriptor,
            after_failure=self._evict,
        )

    def _evict(self) -> None:
        evict(self.data, PROGRAM)

    def _refusal(self) -> str | None:
        import psycopg

        try:
            psycopg.connect(**self.conninfo(), connect_timeout=5).close()
        except psycopg.OperationalError as error:
            return " ".join(str(error).split())
        return None

    def _answers(self) -> bool:
        return (refusal := self._refusal()) is None or "too many clients" in refusal


def _recovers(answer: str) -> bool:
    """Whether a refusal is that of a server on its way."""
    return "starting up" in answer or "not yet accepting" in answer

"""The life of the private server: started, watched, stopped; it never outlives Dyno."""

from __future__ import annotations

from pathlib import Path

import pymysql

from dyno.errors import DynoError
from dyno.servers import home, sockets
from dyno.servers.daemon import Daemon
from dyno.servers.identity import Identity
from dyno.servers.lock import EngineLock
from dyno.servers.processes import evict
from dyno.servers.serverlog import ServerLog
from dyno.servers.volume import VolumeFacts
from dyno.targets.base import Limits
from dyno.targets.mysql import binaries, datafolder
from dyno.targets.mysql.product import MARIADB
from dyno.targets.mysql.settings import options, settings

USER = "root"
_SOCKET = "mysql.sock"
_LEFTOVER_S = 10.0


class Server:
    """A MariaDB of Dyno's own in ``home``, reached through a unix socket only.

    It never outlives Dyno: see :class:`~dyno.servers.daemon.Daemon`.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._home = folder
        self._limits = limits
        self._lock = EngineLock(folder, MARIADB.name)
        self._log = ServerLog(folder / "server.log")
        self._daemon = Daemon(MARIADB, self._log)
        self._logged = -1
        self._program = "mariadbd"
        self.data = folder / "data"
        self.socket = folder / "s" / _SOCKET

    @property
    def pid(self) -> int | None:
        """Process id, None if it does not run."""
        return self._daemon.pid

    def start(self) -> None:
        """Starts it and waits until it takes sessions.

        Raises:
            TargetError: If it cannot be started, with the server's own reason.
        """
        try:
            programs = binaries.find()
            self._program = Path(programs.server).name
            with home.readable_errors(self._home, MARIADB.name):
                home.make(self._home)
                self._lock.acquire(_LEFTOVER_S, self._evict)
                self.data, identity = datafolder.prepare(
                    self._home, programs, self._lock.descriptor
                )
                self.socket = sockets.make(self._home, identity.owner, _SOCKET) / _SOCKET
                self._launch(identity, programs)
            self._daemon.await_ready(self._refusal, self._recovers)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends it, politely at first; never raises but for Ctrl-C, and then after it has ended."""
        try:
            self._daemon.end()
        finally:
            if self._lock.descriptor >= 0:
                self._evict()
                sockets.remove(self._home)
                self._lock.release()

    def died(self) -> DynoError | None:
        """Why sessions broke: what ended the server.

        See :meth:`dyno.servers.daemon.Daemon.died`.
        """
        return self._daemon.died(self._answers)

    def _launch(self, identity: Identity, programs: binaries.Binaries) -> None:
        command = [
            programs.server,
            "--no-defaults",
            f"--datadir={self.data}",
            f"--tmpdir={self._home / 'tmp'}",
            f"--socket={self.socket}",
            f"--pid-file={self.data / 'mariadbd.pid'}",
            "--skip-networking",
            "--skip-name-resolve",
            "--skip-log-bin",
            *options(settings(self._limits, VolumeFacts.of(self._home))),
        ]
        self._daemon.launch(identity, command, self.data, self._lock.descriptor)

    def _evict(self) -> None:
        evict(self.data, self._program)

    def _refusal(self) -> str | None:
        try:
            pymysql.connect(unix_socket=str(self.socket), user=USER, connect_timeout=5).close()
        except pymysql.Error as error:
            return " ".join(str(error).split())
        return None

    def _answers(self) -> bool:
        return (refusal := self._refusal()) is None or "Too many connections" in refusal

    def _recovers(self, _: str) -> bool:
        """Whether its log, where it writes its progress, has grown since the last call."""
        before, self._logged = self._logged, self._log.path.stat().st_size
        return self._logged != before

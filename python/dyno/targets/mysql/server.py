"""The life of the private server: started, watched, stopped; it never outlives Dyno."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pymysql

from dyno.contracts.target import Limits
from dyno.errors import DynoError, TargetError
from dyno.servers import home, sockets
from dyno.servers.daemon import Daemon
from dyno.servers.identity import Identity
from dyno.servers.lock import EngineLock
from dyno.servers.processes import evict
from dyno.servers.serverlog import ServerLog
from dyno.servers.volume import VolumeFacts
from dyno.targets.mysql import binaries, datafolder, volumes
from dyno.targets.mysql.product import MARIADB
from dyno.targets.mysql.settings import options, settings
from dyno.targets.mysql.version import Version

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
        self._daemon = Daemon(MARIADB, self._log, limits.launch, limits.killed)
        self._logged = -1
        self._program = "mariadbd"
        self.data = folder / "data"
        self.socket = folder / "s" / _SOCKET
        self.own: volumes.Home | None = None
        self.log_volume: volumes.Volume = False
        """Where the next start puts the log."""
        self.temp_volume: volumes.Volume = False
        """Where temporary files go from the next start on."""
        self.asked_temp: str | None = None
        """Where a run wants temporary files; a layout's volume otherwise."""
        self.override: Callable[[dict[str, str], Version], dict[str, str]] = _nothing
        """What a run asks for in the place of what :func:`settings` chose, which it is given."""
        self.usual: dict[str, str] = {}
        self.settings: dict[str, str] = {}

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
                resumed = self._lock.descriptor >= 0
                if not resumed:
                    self._lock.acquire(_LEFTOVER_S, self._evict)
                self.data, identity = datafolder.prepare(
                    self._home, programs, self._lock.descriptor
                )
                self.own = volumes.Home(self._home, identity, programs)
                log = volumes.place_log(self.own, self.log_volume)
                volumes.place_temp(self._home, self.temp_volume)
                self.socket = sockets.make(self._home, identity.owner, _SOCKET) / _SOCKET
                self._configure(self.own, resumed=resumed)
                self._launch(identity, programs, log)
            self._daemon.await_ready(self._refusal, self._recovers)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends it, politely at first; never raises but for Ctrl-C, and then after it has ended."""
        try:
            self.pause()
        finally:
            if self._lock.descriptor >= 0:
                self._evict()
                sockets.remove(self._home)
                with contextlib.suppress(TargetError, OSError):  # the next stop tries again
                    volumes.sweep(self._home)
                self._lock.release()

    def pause(self) -> None:
        """Ends it, but keeps its folder locked, for :meth:`start` to go on.

        Raises:
            KeyboardInterrupt: After it has ended.
        """
        self._daemon.end()

    def exit_reason(self) -> DynoError | None:
        """Why sessions broke: what ended the server.

        See :meth:`dyno.servers.daemon.Daemon.exit_reason`.
        """
        return self._daemon.exit_reason(self._answers)

    def _configure(self, own: volumes.Home, *, resumed: bool) -> None:
        temporary = volumes.temp_folder(own, self.asked_temp)
        if resumed:  # room on the volume has changed, the settings must not
            return
        usual = volumes.temp_volume(self._home)
        chosen = settings(self._limits, VolumeFacts.noted(self._home))
        self.usual = {**chosen, "tmpdir": usual or str(self._home / "tmp")}
        wanted = self.override(self.usual, own.programs.version)
        self.settings = {**self.usual, **wanted, "tmpdir": str(temporary)}

    def _launch(self, identity: Identity, programs: binaries.Binaries, log: Path) -> None:
        command = [
            programs.server,
            "--no-defaults",
            f"--datadir={self.data}",
            f"--innodb-log-group-home-dir={log}",
            f"--socket={self.socket}",
            f"--pid-file={self.data / 'mariadbd.pid'}",
            "--skip-networking",
            "--skip-name-resolve",
            "--skip-log-bin",
            *options(self.settings),
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


def _nothing(_usual: dict[str, str], _version: Version) -> dict[str, str]:
    return {}

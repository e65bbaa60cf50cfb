"""The private MariaDB: configuration and launch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pymysql

from dyno.contracts.target import Limits
from dyno.errors import TargetError
from dyno.servers import sockets
from dyno.servers.identity import Identity
from dyno.servers.private import PrivateServer, Volume
from dyno.servers.volume import VolumeFacts
from dyno.targets.mysql import binaries, datafolder, volumes
from dyno.targets.mysql.product import MARIADB
from dyno.targets.mysql.settings import options, settings
from dyno.targets.mysql.version import Version

USER = "root"
_SOCKET = "mysql.sock"


class Server(PrivateServer[binaries.Binaries]):
    """A private MariaDB."""

    PRODUCT: ClassVar = MARIADB
    FULL: ClassVar = "Too many connections"

    def __init__(self, folder: Path, limits: Limits) -> None:
        super().__init__(folder, limits)
        self._logged = -1
        self._started = "mariadbd"
        self.socket = folder / "s" / _SOCKET
        self.temp_volume: Volume = False
        """The volume of temporary files from the next start on."""
        self.asked_temp: str | None = None
        """The folder for temporary files; by default the layout's volume."""
        self.override: Callable[[dict[str, str], Version], dict[str, str]] = _nothing
        """Applies the run's settings to the ones that :func:`settings` chose."""

    def _find(self) -> binaries.Binaries:
        programs = binaries.find()
        self._started = Path(programs.server).name
        return programs

    def _program(self) -> str:
        return self._started

    def _prepare(self, programs: binaries.Binaries) -> Identity:
        self.data, identity = datafolder.prepare(self._home, programs, self._lock.descriptor)
        return identity

    def _put_up(self, own: volumes.Home, *, resumed: bool) -> None:
        log = volumes.place_log(own, self.log_volume)
        volumes.place_temp(self._home, self.temp_volume)
        self.socket = sockets.make(self._home, own.identity.owner, _SOCKET) / _SOCKET
        self._configure(own, resumed=resumed)
        command = [
            own.programs.server,
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
        self._daemon.launch(own.identity, command, self.data, self._lock.descriptor)

    def _configure(self, own: volumes.Home, *, resumed: bool) -> None:
        temporary = volumes.temp_folder(own, self.asked_temp)
        if resumed:  # free space has changed, but the settings must stay
            return
        usual = volumes.temp_volume(self._home)
        chosen = settings(self._limits, VolumeFacts.noted(self._home))
        self.usual = {**chosen, "tmpdir": usual or str(self._home / "tmp")}
        wanted = self.override(self.usual, own.programs.version)
        self.settings = {**self.usual, **wanted, "tmpdir": str(temporary)}

    def _restore(self) -> None:
        with contextlib.suppress(TargetError, OSError):  # the next stop tries again
            volumes.sweep(self._home)

    def _refusal(self) -> str | None:
        try:
            pymysql.connect(unix_socket=str(self.socket), user=USER, connect_timeout=5).close()
        except pymysql.Error as error:
            return " ".join(str(error).split())
        return None

    def _recovers(self, refusal: str) -> bool:  # noqa: ARG002  (they are all alike)
        """Whether its log, where it reports progress, has grown since the last call."""
        before, self._logged = self._logged, self._log.path.stat().st_size
        return self._logged != before


def _nothing(_usual: dict[str, str], _version: Version) -> dict[str, str]:
    return {}

"""The life of the private server: started, watched, stopped; it never outlives Dyno."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pymysql

from dyno.errors import DiskFullError, DynoError, TargetError
from dyno.targets.base import Limits
from dyno.targets.mysql import binaries, datafolder, volumes
from dyno.targets.mysql.datafolder import tells_full_disk
from dyno.targets.mysql.settings import options, settings
from dyno.targets.mysql.version import Version
from dyno.targets.postgresql import sockets
from dyno.targets.postgresql.identity import Identity
from dyno.targets.postgresql.lock import EngineLock
from dyno.targets.postgresql.processes import evict
from dyno.targets.postgresql.serverlog import ServerLog
from dyno.targets.postgresql.volume import VolumeFacts

USER = "root"
_SOCKET = "mysql.sock"
_START_S = 60.0
_POLL_S = 0.02
_LEFTOVER_S = 10.0

_STOP = ((signal.SIGTERM, 120.0), (signal.SIGKILL, 15.0))
"""Ways to end it, and how long each is given: dirty pages written; by the kernel, with recovery at
the next start."""


class Server:
    """A MariaDB of Dyno's own in ``home``, reached through a unix socket only.

    It is a child in a session of its own, so that Ctrl-C in the terminal passes it by. A thread
    starts it and waits for it: if Dyno is killed, that thread ends too, and the kernel kills the
    server, which recovers at its next start.
    """

    def __init__(self, home: Path, limits: Limits) -> None:
        self._home = home
        self._limits = limits
        self._lock = EngineLock(home, datafolder.PRODUCT)
        self._log = ServerLog(home / "server.log")
        self._process: subprocess.Popen[bytes] | None = None
        self._exited = threading.Event()
        self._keeper: threading.Thread | None = None
        self._ready = False
        self._program = "mariadbd"
        self.data = home / "data"
        self.socket = home / "s" / _SOCKET
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
        running = self._process is not None and not self._exited.is_set()
        return self._process.pid if running and self._process else None

    def start(self) -> None:
        """Starts it and waits until it takes sessions.

        Raises:
            TargetError: If it cannot be started, with the server's own reason.
        """
        try:
            programs = binaries.find()
            self._program = Path(programs.server).name
            with _readable_errors(self._home):
                self._home.mkdir(parents=True, exist_ok=True)
                # Whoever the server runs as must pass through; the data has its own mode.
                self._home.chmod(0o711 if os.geteuid() == 0 else 0o700)
                resumed = self._lock.descriptor >= 0
                if not resumed:
                    self._lock.acquire(_LEFTOVER_S, lambda: evict(self.data, self._program))
                self.data, identity = datafolder.prepare(
                    self._home, programs, self._lock.descriptor
                )
                self.own = volumes.Home(self._home, identity, programs)
                log = volumes.place_log(self.own, self.log_volume)
                volumes.place_temp(self._home, self.temp_volume)
                self.socket = sockets.make(self._home, identity.owner) / _SOCKET
                self._configure(self.own, resumed=resumed)
                self._launch(identity, programs, log)
            self._await_ready()
            self._ready = True
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends it, politely at first; never raises but for Ctrl-C, and then after it has ended."""
        try:
            self.pause()
        finally:
            if self._lock.descriptor >= 0:
                evict(self.data, self._program)
                sockets.remove(self._home)
                with contextlib.suppress(TargetError, OSError):  # the next stop tries again
                    volumes.sweep(self._home)
                self._lock.release()

    def pause(self) -> None:
        """Ends it, but keeps its folder locked, for :meth:`start` to go on.

        Raises:
            KeyboardInterrupt: After it has ended.
        """
        interrupt: KeyboardInterrupt | None = None
        # Before it is ready, nothing is worth saving.
        for number, patience_s in _STOP if self._ready else _STOP[1:]:
            if self._process is None or self._exited.is_set():
                break
            self._process.send_signal(number)
            try:
                self._exited.wait(patience_s)
            except KeyboardInterrupt as error:
                interrupt = error  # impatience: on to the next, quicker way
        if self._keeper is not None:
            self._keeper.join(10.0)
        self._ready = False
        if interrupt is not None:
            raise interrupt

    def died(self, wait_s: float = 1.0) -> DynoError | None:
        """Why sessions broke: what ended the server.

        A broken session is seen a moment before the server's end is, hence ``wait_s``.

        Returns:
            The error to raise; None if the server is well.
        """
        if not self._exited.wait(wait_s) or self._process is None:
            return None
        code = self._process.returncode
        if code < 0 and code != -signal.SIGABRT:  # it aborts itself after saying why
            message = f"MariaDB was killed (signal {-code})."
            return TargetError(message, kind="connection_lost")
        reason = self._reason()
        if tells_full_disk(reason):
            return _full(f"MariaDB stopped: {reason}")
        return TargetError(f"MariaDB stopped: {reason}.", kind="connection_lost")

    def _configure(self, own: volumes.Home, *, resumed: bool) -> None:
        temporary = volumes.temp_folder(own, self.asked_temp)
        if resumed:  # room on the volume has changed, the settings must not
            return
        usual = volumes.temp_volume(self._home)
        chosen = settings(self._limits, VolumeFacts.of(self._home))
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
        self._exited.clear()
        started = threading.Event()
        failure: list[OSError] = []

        def keep() -> None:
            try:
                with self._log.open() as output:
                    process = identity.spawn(
                        command,
                        self.data,
                        signal.SIGKILL,
                        output=output,
                        keep=[self._lock.descriptor],
                    )
            except OSError as error:
                failure.append(error)
                started.set()
                return
            self._process = process
            started.set()
            process.wait()
            self._exited.set()

        self._keeper = threading.Thread(target=keep, daemon=True, name="dyno-mariadb")
        self._keeper.start()
        started.wait()
        if failure:
            raise failure[0]

    def _await_ready(self) -> None:
        deadline = time.monotonic() + _START_S
        size = -1
        while True:
            try:
                pymysql.connect(unix_socket=str(self.socket), user=USER, connect_timeout=5).close()
            except pymysql.Error as error:
                answer = " ".join(str(error).split())
            else:
                return
            if self._exited.wait(_POLL_S):
                reason = self._reason()
                if tells_full_disk(reason):
                    raise _full(f"MariaDB did not start: {reason}")
                raise TargetError(f"MariaDB did not start: {reason} (see {self._log.path}).")
            # Recovery after a kill takes what it takes; it writes its progress meanwhile.
            if (grown := self._log.path.stat().st_size) != size:
                size, deadline = grown, time.monotonic() + _START_S
            if time.monotonic() > deadline:
                raise TargetError(
                    f"MariaDB did not answer within {_START_S:.0f} s: {answer} "
                    f"(see {self._log.path})."
                )

    def _reason(self) -> str:
        """What in its log explains an end best: the first error, or the last line."""
        lines = self._log.lines()
        told = [line.partition("[ERROR] ")[2] for line in lines if "[ERROR] " in line]
        return (told or lines[-1:] or [f"nothing was logged in {self._log.path}"])[0].rstrip(".")


def _nothing(_usual: dict[str, str], _version: Version) -> dict[str, str]:
    return {}


def _full(message: str) -> DiskFullError:
    return DiskFullError(f"{message}. Free some space or give another --out DIR.")


@contextlib.contextmanager
def _readable_errors(home: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        place = error.filename or home
        if error.errno in (28, 122):  # ENOSPC, EDQUOT
            raise DiskFullError(f"No space left for MariaDB in {place}.") from error
        message = f"MariaDB cannot use {place}: {error.strerror}. Give another --out DIR."
        raise TargetError(message, kind="io") from error

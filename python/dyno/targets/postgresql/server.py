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
from typing import Any, Literal

from dyno.errors import DiskFullError, DynoError, TargetError
from dyno.targets.base import Limits
from dyno.targets.ending import ended
from dyno.targets.postgresql import binaries, cluster, sockets, tablespaces, wal
from dyno.targets.postgresql.checksums import Checksums
from dyno.targets.postgresql.identity import Identity, choose
from dyno.targets.postgresql.lock import EngineLock
from dyno.targets.postgresql.processes import evict
from dyno.targets.postgresql.serverlog import ServerLog, tells_full_disk
from dyno.targets.postgresql.settings import conf, settings
from dyno.targets.postgresql.volume import VolumeFacts

_START_S = 60.0
_POLL_S = 0.02
_LEFTOVER_S = 10.0

_STOP = ((signal.SIGINT, 120.0), (signal.SIGQUIT, 15.0), (signal.SIGKILL, 15.0))
"""Ways to end it, and how long each is given: sessions ended and a checkpoint written; at once,
with recovery at the next start; by the kernel."""


class Server:
    """A PostgreSQL of Dyno's own in ``home``, reached through a unix socket only.

    The server is a child in a session of its own, so that Ctrl-C in the terminal passes it by. A
    thread starts it and waits for it: if Dyno is killed, that thread ends too, and the kernel
    sends the server SIGQUIT. The thread also lives as long as the server whichever thread
    called :meth:`start`.
    """

    def __init__(self, home: Path, limits: Limits) -> None:
        self._home = home
        self._limits = limits
        self._lock = EngineLock(home)
        self._log = ServerLog(home / "server.log")
        self._process: subprocess.Popen[bytes] | None = None
        self._exited = threading.Event()
        self._keeper: threading.Thread | None = None
        self._ready = False
        self.data = home / "data"
        self.log_volume: str | Literal[False] | None = False
        """Where the next start puts the log: a volume, None for beside the data, False for where
        it is."""
        self.own: tablespaces.Home | None = None
        self.socket_folder = home / "s"
        self._checksums = Checksums(home)
        self._kept: tuple[Identity, binaries.Binaries] | None = None
        self.override: Callable[[dict[str, str]], dict[str, str]] = lambda _: {}
        """What a run asks for in the place of what :func:`settings` chose, which it is given."""
        self.asked_checksums: str | None = None
        self.usual_checksums = ""
        self.usual: dict[str, str] = {}
        self.settings: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        """Process id of the postmaster, None if it does not run."""
        running = self._process is not None and not self._exited.is_set()
        return self._process.pid if running and self._process else None

    def conninfo(self) -> dict[str, Any]:
        """How libpq reaches it."""
        return {
            "host": str(self.socket_folder),
            "port": str(sockets.PORT),
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
            with _readable_errors(self._home):
                self._home.mkdir(parents=True, exist_ok=True)
                # Whoever the server runs as must pass through; the data has its own mode.
                self._home.chmod(0o711 if os.geteuid() == 0 else 0o700)
                resumed = self._lock.descriptor >= 0
                if not resumed:
                    self._lock.acquire(_LEFTOVER_S, lambda: evict(self.data))
                self.data, identity = cluster.prepare(self._home, programs, self._lock.descriptor)
                self.own = tablespaces.Home(self._home, identity, programs)
                wal.mend(self.data)
                if self.log_volume is not False:
                    wal.place(self.data, self.own, self.log_volume)
                self.socket_folder = sockets.make(self._home, identity.owner)
                self._kept = identity, programs
                if not resumed:
                    self._configure(identity, programs)
                self._write_conf(self.settings, identity)
                self.usual_checksums = self._checksums.before_start(
                    self.asked_checksums, programs, identity, self._recover
                )
                self._launch(identity, programs)
            self._await_ready()
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
                evict(self.data)
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
                programs.program("postgres"),
            )
            question = ["-C", "shared_memory_size_in_huge_pages", "-D", str(self.data)]
            question += [word for pair in self.settings.items() for word in ("-c", "=".join(pair))]
            code, printed = identity.run([programs.program("postgres"), *question], self.data)
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
        interrupt: KeyboardInterrupt | None = None
        # Before it is ready, a polite request can hang in recovery, and nothing is worth saving.
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

    def died(self) -> DynoError | None:
        """Why sessions broke: what ended the server.

        Returns:
            The error to raise; None if the server is well.
        """
        if self._process is None or not ended(self._exited, self._answers):
            return None
        code = self._process.returncode
        if code < 0:
            message = f"PostgreSQL was killed (signal {-code})."
            return TargetError(message, kind="connection_lost")
        reason = self._log.reason()
        if tells_full_disk(reason):
            return _full(f"PostgreSQL stopped: {reason}")
        return TargetError(f"PostgreSQL stopped: {reason}.", kind="connection_lost")

    def _configure(self, identity: Identity, programs: binaries.Binaries) -> None:
        io_uring = cluster.offers_io_uring(identity, self.data, programs)
        self.usual = settings(self._limits, VolumeFacts.of(self._home), io_uring=io_uring)
        self.settings = {**self.usual, **self.override(self.usual)}

    def _write_conf(self, values: dict[str, str], identity: Identity) -> None:
        folder = str(self.socket_folder).replace('"', '""')
        reach = {
            "listen_addresses": "",
            "port": str(sockets.PORT),
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
                self._await_ready()
            finally:
                self.pause()

    def _restore(self) -> None:
        """Leaves the folder as a run without settings of its own would."""
        if self._kept is None:
            return
        identity, programs = self._kept
        try:
            with _readable_errors(self._home):
                if self.settings != self.usual:
                    self._write_conf(self.usual, identity)
                self._checksums.after_stop(programs, identity, self._recover)
        finally:
            self._kept = None

    def _launch(self, identity: Identity, programs: binaries.Binaries) -> None:
        started = threading.Event()
        failure: list[OSError] = []
        self._exited.clear()

        def keep() -> None:
            try:
                with self._log.open() as output:
                    process = identity.spawn(
                        [programs.program("postgres"), "-D", str(self.data)],
                        self.data,
                        signal.SIGQUIT,
                        output=output,
                        keep=[self._lock.descriptor],
                    )
            except OSError as error:
                failure.append(error)
                started.set()
                return
            self._process = process
            started.set()
            code = process.wait()
            self._exited.set()
            if code != 0:
                evict(self.data)  # so that sessions which compute break now, not when they are done

        self._keeper = threading.Thread(target=keep, daemon=True, name="dyno-postgresql")
        self._keeper.start()
        started.wait()
        if failure:
            raise failure[0]

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(**self.conninfo(), connect_timeout=5).close()
        except psycopg.OperationalError as error:
            return "too many clients" in str(error)
        return True

    def _await_ready(self) -> None:
        import psycopg

        deadline = time.monotonic() + _START_S
        while True:
            try:
                psycopg.connect(**self.conninfo(), connect_timeout=5).close()
            except psycopg.OperationalError as error:
                answer = " ".join(str(error).split())
                # Recovery after a kill takes what it takes; it answers meanwhile.
                if "starting up" in answer or "not yet accepting" in answer:
                    deadline = time.monotonic() + _START_S
            else:
                self._ready = True
                return
            if self._exited.wait(_POLL_S):
                reason = self._log.reason()
                if tells_full_disk(reason):
                    raise _full(f"PostgreSQL did not start: {reason}")
                raise TargetError(f"PostgreSQL did not start: {reason} (see {self._log.path}).")
            if time.monotonic() > deadline:
                raise TargetError(
                    f"PostgreSQL did not answer within {_START_S:.0f} s: {answer} "
                    f"(see {self._log.path})."
                )


def _full(message: str) -> DiskFullError:
    return DiskFullError(f"{message}. Free some space or give another --out DIR.")


@contextlib.contextmanager
def _readable_errors(home: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        place = error.filename or home
        if error.errno in (28, 122):  # ENOSPC, EDQUOT
            raise DiskFullError(f"No space left for PostgreSQL in {place}.") from error
        message = f"PostgreSQL cannot use {place}: {error.strerror}. Give another --out DIR."
        raise TargetError(message, kind="io") from error

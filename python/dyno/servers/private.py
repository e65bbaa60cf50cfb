"""The lifecycle of a private server: start, supervision and stop; it never outlives Dyno."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Literal, TypeVar

from dyno.contracts.target import Limits
from dyno.errors import DynoError, TargetError
from dyno.servers import home, sockets
from dyno.servers.daemon import Daemon
from dyno.servers.identity import Identity
from dyno.servers.lock import EngineLock
from dyno.servers.processes import evict
from dyno.servers.product import Product
from dyno.servers.serverlog import ServerLog

Programs = TypeVar("Programs")

Volume = str | Literal[False] | None
"""The location of a part of a server: a volume, None for next to its data, False for unchanged."""

_LEFTOVER_S = 10.0


@dataclass(frozen=True)
class Home(Generic[Programs]):
    """The local side of a private server: its folder, identity and programs."""

    path: Path
    identity: Identity
    programs: Programs


class PrivateServer(ABC, Generic[Programs]):
    """A private server in a folder, reachable through a unix socket only.

    It never outlives Dyno: see :class:`~dyno.servers.daemon.Daemon`. A product defines how to find,
    prepare and launch it, and how to check that it accepts sessions.

    Attributes:
        PRODUCT: The product.
        FULL: Part of its error for too many sessions.
        data: Its data folder.
        own: Its local side, after the start.
        log_volume: The location of its log from the next start on.
        usual: Settings that Dyno chose for it.
        settings: These settings with those of the run.
    """

    PRODUCT: ClassVar[Product]
    FULL: ClassVar[str]

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._home = folder
        self._limits = limits
        self._lock = EngineLock(folder, self.PRODUCT.name)
        self._log = ServerLog(folder / "server.log")
        self._daemon = Daemon(self.PRODUCT, self._log, limits.launch, limits.killed)
        self.data = folder / "data"
        self.own: Home[Programs] | None = None
        self.log_volume: Volume = False
        self.usual: dict[str, str] = {}
        self.settings: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        """The process id of its main process; None if it is not running."""
        return self._daemon.pid

    @property
    def restored(self) -> bool:
        """Whether the folder has no settings of a run left."""
        return True

    def start(self) -> None:
        """Starts it and waits until it accepts sessions.

        Raises:
            TargetError: If it cannot be started, with the server's own reason.
        """
        try:
            programs = self._find()
            with home.readable_errors(self._home, self.PRODUCT.name):
                home.make(self._home)
                resumed = self._lock.descriptor >= 0
                if not resumed:
                    self._lock.acquire(_LEFTOVER_S, self._evict)
                self.own = Home(self._home, self._prepare(programs), programs)
                self._put_up(self.own, resumed=resumed)
            self._daemon.await_ready(self._refusal, self._recovers)
        except BaseException:
            with contextlib.suppress(TargetError):  # the first error is reported
                self.stop()
            raise

    def stop(self) -> None:
        """Stops it, politely at first, and restores what was changed for a run.

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

    def pause(self) -> None:
        """Stops it, but keeps the lock and the settings, so that :meth:`start` resumes it.

        Raises:
            KeyboardInterrupt: After it has ended.
        """
        self._daemon.end()

    def exit_reason(self) -> DynoError | None:
        """Why sessions broke: the cause of the server's exit.

        See :meth:`dyno.servers.daemon.Daemon.exit_reason`.
        """
        return self._daemon.exit_reason(self._answers)

    @abstractmethod
    def _find(self) -> Programs:
        """Finds its programs on this machine.

        Raises:
            TargetError: With what to install.
        """

    @abstractmethod
    def _prepare(self, programs: Programs) -> Identity:
        """Creates its data folder if missing, and returns the server's identity."""

    @abstractmethod
    def _put_up(self, own: Home[Programs], *, resumed: bool) -> None:
        """Prepares all files and launches it.

        Args:
            own: Its folder, identity and programs.
            resumed: Whether it resumes after :meth:`pause`, with the same settings.
        """

    @abstractmethod
    def _refusal(self) -> str | None:
        """Its error for a new session; None if it accepts one."""

    @abstractmethod
    def _recovers(self, refusal: str) -> bool:
        """Whether a server that refuses sessions is still starting."""

    @abstractmethod
    def _program(self) -> str:
        """The name of its program, to find its remaining processes."""

    def _restore(self) -> None:
        """Restores the folder to its state without the settings of a run."""

    def _evict(self) -> None:
        evict(self.data, self._program())

    def _answers(self) -> bool:
        return (refusal := self._refusal()) is None or self.FULL in refusal

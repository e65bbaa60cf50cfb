"""The life of a private server: started, watched, stopped; it never outlives Dyno."""

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
"""Where a part of a server belongs: a volume, None for beside its data, False for where it is."""

_LEFTOVER_S = 10.0


@dataclass(frozen=True)
class Home(Generic[Programs]):
    """A private server's own side: its folder, as whom it runs, and its programs."""

    path: Path
    identity: Identity
    programs: Programs


class PrivateServer(ABC, Generic[Programs]):
    """A server of Dyno's own in a folder, reached through a unix socket only.

    It never outlives Dyno: see :class:`~dyno.servers.daemon.Daemon`. A product says how it is
    found, prepared and launched, and asked whether it takes sessions.

    Attributes:
        PRODUCT: What it runs.
        FULL: What it says, among other things, to one session too many.
        data: Its data folder.
        own: Its side of the machine, once it was started.
        log_volume: Where the next start puts its log.
        usual: Settings that Dyno chose for it.
        settings: The same with what the run asks for.
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
        """Process id of its first process, None if it does not run."""
        return self._daemon.pid

    @property
    def restored(self) -> bool:
        """Whether nothing of a run's settings is left in the folder."""
        return True

    def start(self) -> None:
        """Starts it and waits until it takes sessions.

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

    @abstractmethod
    def _find(self) -> Programs:
        """Its programs on this machine.

        Raises:
            TargetError: Saying what to install.
        """

    @abstractmethod
    def _prepare(self, programs: Programs) -> Identity:
        """Makes its data folder where it is missing, and tells as whom it runs."""

    @abstractmethod
    def _put_up(self, own: Home[Programs], *, resumed: bool) -> None:
        """Puts everything in its place and launches it.

        Args:
            own: Its folder, identity and programs.
            resumed: Whether it goes on after :meth:`pause`, with the settings that it had.
        """

    @abstractmethod
    def _refusal(self) -> str | None:
        """What it says to a session that it does not take; None if it takes one."""

    @abstractmethod
    def _recovers(self, refusal: str) -> bool:
        """Whether a server that refuses sessions is on its way."""

    @abstractmethod
    def _program(self) -> str:
        """Name of its program, by which what is left of it is found."""

    def _restore(self) -> None:
        """Leaves the folder as a run without settings of its own would."""

    def _evict(self) -> None:
        evict(self.data, self._program())

    def _answers(self) -> bool:
        return (refusal := self._refusal()) is None or self.FULL in refusal

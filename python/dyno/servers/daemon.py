"""The process of a private server: start, readiness and stop; it never outlives Dyno."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dyno.errors import DiskFullError, DynoError, TargetError
from dyno.runtime.interrupts import patient_wait
from dyno.servers.ending import ended
from dyno.servers.identity import Identity
from dyno.servers.product import Product
from dyno.servers.serverlog import ServerLog

_START_S = 60.0
_POLL_S = 0.02
_REAP_S = 10.0


class Daemon:
    """A server process, which can be restarted after it has ended.

    It is a child in its own session, so that Ctrl-C in the terminal does not reach it. A thread
    starts
    it and waits for it, and lives as long as the process, whichever thread called :meth:`launch`.
    If
    Dyno is killed, that thread ends too, and the kernel sends the server the product's signal.
    """

    def __init__(
        self,
        product: Product,
        log: ServerLog,
        launch: Sequence[str] = (),
        killed: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Creates it without starting the process.

        Args:
            product: The product.
            log: The log file of the server.
            launch: The command prefix that applies the run's limits.
            killed: Returns the limit for which the kernel killed one of its processes; None if
                none.
        """
        self._product = product
        self._log = log
        self._before = launch
        self._killed = killed
        self._process: subprocess.Popen[bytes] | None = None
        self._exited = threading.Event()
        self._keeper: threading.Thread | None = None
        self._ready = False

    @property
    def pid(self) -> int | None:
        """The process id; None if it is not running."""
        running = self._process is not None and not self._exited.is_set()
        return self._process.pid if running and self._process else None

    def launch(
        self,
        identity: Identity,
        command: Sequence[str],
        folder: Path,
        lock: int,
        *,
        after_failure: Callable[[], None] = lambda: None,
    ) -> None:
        """Starts ``command`` in ``folder``; the child inherits the descriptor ``lock``.

        ``after_failure`` is called after an exit with a code other than 0.

        Raises:
            OSError: If the log cannot be written or the process cannot be started.
        """
        started = threading.Event()
        failure: list[OSError] = []
        self._exited.clear()

        def keep() -> None:
            try:
                with self._log.open() as output:
                    process = identity.spawn(
                        command, folder, self._product.at_death,
                        output=output, keep=[lock], launch=self._before,
                    )  # fmt: skip
            except OSError as error:
                failure.append(error)
                started.set()
                return
            self._process = process
            started.set()
            code = process.wait()
            self._exited.set()
            if code != 0:
                after_failure()

        name = f"dyno-{self._product.name.lower()}"
        self._keeper = threading.Thread(target=keep, daemon=True, name=name)
        self._keeper.start()
        started.wait()
        if failure:
            raise failure[0]

    def await_ready(
        self, refusal: Callable[[], str | None], recovers: Callable[[str], bool]
    ) -> None:
        """Waits until the server accepts sessions.

        Args:
            refusal: Tries to open a session; returns the error, or None.
            recovers: Whether the server makes progress, judged by that error. Recovery after a kill
                has no timeout.

        Raises:
            TargetError: If it exited, with its own reason, or does not respond.
        """
        name = self._product.name
        deadline = time.monotonic() + _START_S
        while (answer := refusal()) is not None:
            if self._exited.wait(_POLL_S):
                raise self._ended(f"{name} did not start", f" (see {self._log.path})")
            if recovers(answer):
                deadline = time.monotonic() + _START_S
            if time.monotonic() > deadline:
                raise TargetError(
                    f"{name} did not answer within {_START_S:.0f} s: {answer} "
                    f"(see {self._log.path})."
                )
        self._ready = True

    def end(self) -> None:
        """Stops it with the most polite signal first; each further Ctrl-C moves on to the next one.

        Raises:
            KeyboardInterrupt: After it has ended.
        """
        interrupt: KeyboardInterrupt | None = None
        # Before it is ready, a polite stop can hang in recovery, and there is nothing to save.
        for number, patience_s in self._product.stops if self._ready else self._product.stops[1:]:
            if self._process is None or self._exited.is_set():
                break
            self._process.send_signal(number)
            try:
                patient_wait(self._exited, patience_s)
            except KeyboardInterrupt as error:
                interrupt = error  # the user is impatient: next signal
        if self._keeper is not None:
            self._keeper.join(_REAP_S)
        self._ready = False
        if interrupt is not None:
            raise interrupt

    def exit_reason(self, answers: Callable[[], bool]) -> DynoError | None:
        """Why sessions broke: the cause of the server's exit; ``answers`` checks if it responds.

        Returns:
            The error to raise; None if the server is well.
        """
        if self._process is None:
            return None
        if (limit := self._killed()) is not None:  # a single process: the others may continue
            return self._over(limit)
        if not ended(self._exited, answers):
            return None
        if (limit := self._killed()) is not None:
            return self._over(limit)
        code = self._process.returncode
        if code < 0 and signal.Signals(-code) not in self._product.aborts:
            message = f"{self._product.name} was killed (signal {-code})."
            return TargetError(message, kind="connection_lost")
        return self._ended(f"{self._product.name} stopped", kind="connection_lost")

    def _over(self, limit: str) -> TargetError:
        return TargetError(f"{self._product.name} was killed: {limit}.", kind="out_of_memory")

    def _ended(self, what: str, where: str = "", *, kind: str | None = None) -> DynoError:
        if (limit := self._killed()) is not None:
            return self._over(limit)
        reason = self._log.reason(self._product.explain)
        if self._product.reports_full_disk(reason):
            return full(f"{what}: {reason}")
        return TargetError(f"{what}: {reason}{where}.", kind=kind)


def full(message: str) -> DiskFullError:
    """The error for a server that stopped on a full volume."""
    return DiskFullError(f"{message}. Free some space or give another --out DIR.")

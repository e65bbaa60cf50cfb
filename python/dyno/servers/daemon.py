"""The process of a private server: started, waited for, ended; it never outlives Dyno."""

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
    """One server process at a time, which may be started again after it has ended.

    It is a child in a session of its own, so that Ctrl-C in the terminal passes it by. A thread
    starts it and waits for it, and lives as long as it does whichever thread called
    :meth:`launch`: if Dyno is killed, that thread ends too, and the kernel sends the server the
    product's signal.
    """

    def __init__(
        self,
        product: Product,
        log: ServerLog,
        launch: Sequence[str] = (),
        killed: Callable[[], str | None] = lambda: None,
    ) -> None:
        """One that does not run yet.

        Args:
            product: What it runs.
            log: What that writes to.
            launch: What its command line begins with, to be where the limits of a run hold.
            killed: Which of those limits the kernel killed one of its processes for; None if none.
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
        """Process id, None if it does not run."""
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
        """Starts ``command`` in ``folder``; the descriptor ``lock`` stays open in it.

        ``after_failure`` is called when it has ended with another code than 0.

        Raises:
            OSError: If the log cannot be written or no process can be made.
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
        """Waits until it takes sessions.

        Args:
            refusal: Tries to open a session; returns why it got none, or None.
            recovers: Whether it is alive and on its way, seen by that refusal. Recovery after a
                kill takes what it takes.

        Raises:
            TargetError: If it ended instead, with its own reason, or does not answer.
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
        """Ends it, politely at first; whenever the user asks again, by the next, quicker way.

        Raises:
            KeyboardInterrupt: After it has ended.
        """
        interrupt: KeyboardInterrupt | None = None
        # Before it is ready, a polite request can hang in recovery, and nothing is worth saving.
        for number, patience_s in self._product.stops if self._ready else self._product.stops[1:]:
            if self._process is None or self._exited.is_set():
                break
            self._process.send_signal(number)
            try:
                patient_wait(self._exited, patience_s)
            except KeyboardInterrupt as error:
                interrupt = error  # impatience: on to the next, quicker way
        if self._keeper is not None:
            self._keeper.join(_REAP_S)
        self._ready = False
        if interrupt is not None:
            raise interrupt

    def exit_reason(self, answers: Callable[[], bool]) -> DynoError | None:
        """Why sessions broke: what ended the server, of which ``answers`` tells if it is well.

        Returns:
            The error to raise; None if the server is well.
        """
        if self._process is None:
            return None
        if (limit := self._killed()) is not None:  # of one process: the others may go on
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
        if self._product.tells_full_disk(reason):
            return full(f"{what}: {reason}")
        return TargetError(f"{what}: {reason}{where}.", kind=kind)


def full(message: str) -> DiskFullError:
    """The error for a volume on which a server could not go on."""
    return DiskFullError(f"{message}. Free some space or give another --out DIR.")

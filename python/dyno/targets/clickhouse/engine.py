"""Client of the chdb process: starts it, opens sessions, stops it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dyno.errors import TargetError
from dyno.targets.clickhouse import child, lacks
from dyno.targets.clickhouse.errors import start_error
from dyno.targets.clickhouse.place import CHDB_READS

_CONFIG = str(Path(__file__).with_name("engine.xml"))
_GONE_S = 5.0
_STOP_S = 15.0


class Engine:
    """A running child. Its sessions are independent and can run concurrently."""

    def __init__(
        self,
        folder: Path,
        options: dict[str, int],
        launch: Sequence[str] = (),
        killed: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Starts the child on a directory.

        Args:
            folder: The directory; created if missing.
            options: Engine-wide settings.
            launch: The command prefix that applies the run's limits.
            killed: Returns the limit for which the kernel killed it; None if none.

        Raises:
            TargetError: If chdb is not installed, or cannot open the directory.
        """
        if missing := lacks():
            raise TargetError(f"{missing}.")
        self.folder = folder
        self._lock = threading.Lock()
        self._sessions = 0
        self._killed_by_us = False
        self._killed = killed
        settings: dict[str, int | str] = {**options}
        if not set(CHDB_READS) & set(_CONFIG):  # otherwise it has no query log
            settings["config-file"] = _CONFIG
        address = f"{folder}?" + "&".join(f"{name}={value}" for name, value in settings.items())
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                # -P: no modules from the working directory.
                [*launch, sys.executable, "-P", child.__file__, str(theirs.fileno()), address],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            answer = self._control.recv(child.MESSAGE)
            problem = json.loads(answer).get("error") if answer else self.why_gone()
            if problem:
                raise start_error(problem, folder)
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._process.pid

    def session(self, rows: int | None = None) -> tuple[int, Connection[Any, Any]]:
        """Opens a session; returns its number and its socket.

        Args:
            rows: The read end of a pipe for rows.

        Raises:
            TargetError: If the child has exited.
        """
        mine, theirs = socket.socketpair()
        handles = [theirs.fileno()] if rows is None else [theirs.fileno(), rows]
        with theirs, self._lock:
            self._sessions += 1
            number = self._sessions
            message = json.dumps({"do": "session", "session": number}).encode()
            try:
                socket.send_fds(self._control, [message], handles)
            except OSError as error:
                mine.close()
                raise self.lost() from error
        return number, Connection(mine.detach())

    def cancel(self, session: int, statement: int) -> None:
        """Requests the cancellation of a session's statement; never raises."""
        request = {"do": "cancel", "session": session, "statement": statement}
        message = json.dumps(request).encode()
        with self._lock:
            try:
                self._control.send(message)
            except OSError:
                return

    def kill(self) -> None:
        """Kills the child with all its sessions."""
        self._killed_by_us = True
        self._process.kill()

    def lost(self) -> TargetError:
        """The error for a child that has exited."""
        return TargetError(f"{self.why_gone()}.", kind="connection_lost")

    def why_gone(self) -> str:
        """The exit status of the child, as text."""
        try:
            code = self._process.wait(_GONE_S)
        except subprocess.TimeoutExpired:
            return "ClickHouse does not respond"
        if self._killed_by_us:
            return "ClickHouse ignored a cancellation; Dyno killed it"
        if code < 0 and (limit := self._killed()) is not None:
            return f"ClickHouse was killed: {limit}"
        if code < 0:
            return f"ClickHouse was killed (signal {-code}: {signal.Signals(-code).name})"
        return f"ClickHouse ended (exit code {code})"

    def stop(self) -> None:
        """Stops the child, by force after a timeout; never raises."""
        self._control.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

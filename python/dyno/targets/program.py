"""A program that runs during a workload, and dies with Dyno."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from dyno.errors import Interrupted, TargetError
from dyno.servers.identity import Identity


class Program:
    """Runs the program once or more. ``cancel`` is thread-safe."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, command: Sequence[str], folder: Path, stop: threading.Event) -> None:
        """Runs it to completion in ``folder``.

        Raises:
            Interrupted: If it was stopped.
            TargetError: If it failed, with its last message.
        """
        name = Path(command[0]).name
        if stop.is_set():
            raise Interrupted(f"{name} was stopped.")
        try:
            process = Identity("self").spawn(
                command, folder, signal.SIGKILL, output=subprocess.PIPE
            )
        except OSError as error:
            raise TargetError(f"Cannot run {name}: {error.strerror}.") from error
        self._process = process
        try:
            printed, _ = process.communicate()
        finally:
            self._process = None
            if process.poll() is None:
                process.kill()
                process.wait()
        if stop.is_set():
            raise Interrupted(f"{name} was stopped.")
        if process.returncode != 0:
            lines = printed.decode(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else f"exit code {process.returncode}"
            raise TargetError(f"{name} failed: {reason}", kind="database")

    def cancel(self) -> None:
        """Terminates it and its child processes."""
        process = self._process
        if process is not None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGTERM)

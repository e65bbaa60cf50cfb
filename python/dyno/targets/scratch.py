"""A folder for a backup, under ``--out``: room found before, emptied after; and who writes it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dyno.errors import DiskFullError, Interrupted, TargetError
from dyno.footprint import folder_bytes
from dyno.servers.identity import Identity
from dyno.units import bytes_text

_FOLDER = "scratch"
_PREFIX = "backup-"
_MARGIN = 1.1
"""Beyond the estimate: what is written meanwhile, and what else has to find room there."""


@dataclass
class Written:
    """What backups have written, all rounds.

    Attributes:
        size: Bytes in its files; whether they are on the medium is up to the program.
        seconds: Time that it took, until it was found whole.
    """

    size: int = 0
    seconds: float = 0.0


class Scratch:
    """The folder, private to this user. Not shared between threads, but for ``size``."""

    def __init__(self, out: Path, needed: int) -> None:
        """Makes it, and removes what a killed run has left: only one run at once has ``out``.

        Raises:
            DiskFullError: If there is no room for ``needed`` bytes and a tenth more.
            TargetError: If it cannot be made.
        """
        home = (out / _FOLDER).absolute()
        try:
            home.mkdir(parents=True, exist_ok=True)
            for left in home.glob(f"{_PREFIX}*"):
                shutil.rmtree(left, ignore_errors=True)
            free = shutil.disk_usage(home).free
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
        except OSError as error:
            raise TargetError(f"Cannot make {home}: {error.strerror}.", kind="io") from error
        self.written = Written()
        if free < needed * _MARGIN:
            self.remove()
            raise DiskFullError(
                f"The backup should take {bytes_text(needed)}, and {home} has only "
                f"{bytes_text(free)} free; free some or give --out DIR on another volume."
            )

    def size(self) -> int:
        """Bytes on storage at this moment."""
        return folder_bytes(self.path)

    @contextlib.contextmanager
    def backup(self) -> Generator[Path]:
        """An empty folder for one backup; counts what lies there in the end, and removes it.

        Raises:
            TargetError: If it cannot be made.
        """
        place = self.path / "backup"
        self._empty(place)
        try:
            place.mkdir()
        except OSError as error:
            raise TargetError(f"Cannot make {place}: {error.strerror}.", kind="io") from error
        start = time.monotonic()
        try:
            yield place
            self.written.seconds += time.monotonic() - start
            self.written.size += folder_bytes(place)
        finally:
            self._empty(place)

    def remove(self) -> None:
        """Removes it, and the folder of all such when it was the last; never raises."""
        self._empty(self.path)
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()

    def secret(self, name: str, text: str) -> Path:
        """A file that only this user can read, such as one with a password."""
        file = self.path / name
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
        return file

    def _empty(self, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)


class Program:
    """A program that runs beside the work, and dies with Dyno. ``cancel`` from any thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, command: Sequence[str], folder: Path, stop: threading.Event) -> None:
        """Runs it to its end in ``folder``.

        Raises:
            Interrupted: If it was stopped.
            TargetError: If it failed, with its own last word.
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
        """Ends it and the processes that it has made, politely."""
        process = self._process
        if process is not None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGTERM)

"""Base of online backups: location, timing and cleanup."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate, Written
from dyno.contracts.target import Progress
from dyno.errors import TargetError
from dyno.targets.program import Program
from dyno.targets.scratch import Scratch
from dyno.workspace.footprint import folder_bytes


class Backup(ABC):
    """Repeated backups, each written, synced, verified and removed (see ``Job``).

    The time includes writing and syncing, but not verification.
    """

    method: str

    def __init__(self, out: Path, estimate: SpaceEstimate) -> None:
        """Creates the scratch folder.

        Raises:
            TargetError: If the folder cannot be used.
        """
        self.estimate = estimate
        self.written = Written()
        self.scratch = Scratch(out)
        self.program = Program()

    def prepare(self) -> None:
        """Requires the space."""
        self.scratch.require(self.estimate.size or 0)

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Takes one backup, verifies it and removes it."""
        progress(0, 1, "backup")
        with self.scratch.empty_folder() as place:
            start = time.monotonic()
            self._write(place, stop, progress)
            _sync(place)
            seconds = time.monotonic() - start
            size = folder_bytes(place)
            check = self._proven(place)
        self.written.seconds += seconds
        self.written.size += size
        progress(1, 1, "")
        return [check]

    def space(self) -> int | None:
        """Bytes in the scratch folder."""
        return self.scratch.size()

    def cancel(self) -> None:
        """Stops the current backup; a server stops its side with it."""
        self.program.cancel()

    def close(self) -> None:
        """Removes the files written, including files with passwords."""
        self.scratch.remove()

    @abstractmethod
    def _write(self, place: Path, stop: threading.Event, progress: Progress) -> None:
        """Writes one backup into an empty folder.

        Raises:
            Interrupted: If ``stop`` was set.
            DynoError: If it could not be written.
        """

    @abstractmethod
    def _proven(self, place: Path) -> Check:
        """Verifies that the backup in a folder is complete.

        Raises:
            TargetError: If it cannot be read.
        """


def _sync(folder: Path) -> None:
    """Syncs files and their directory entries; cheap if a program has already synced them.

    Raises:
        TargetError: If the medium fails.
    """
    try:
        for path in (*folder.rglob("*"), folder):
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        raise TargetError(f"Cannot sync the backup: {error.strerror}.", kind="io") from error

"""A scratch folder for backups under ``--out``: checks space first, and is emptied at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from dyno.config.units import bytes_text
from dyno.errors import DiskFullError, TargetError, UsageError
from dyno.safety.removal import remove_tree
from dyno.safety.safefiles import is_own_folder, make_folder
from dyno.workspace.footprint import folder_bytes

_FOLDER = "scratch"
_PREFIX = "backup-"
_MARGIN = 1.1
"""Margin on the estimate, for data written meanwhile and other files."""


def left(out: Path) -> list[Path]:
    """This user's scratch folders of killed runs."""
    if not is_own_folder(out / _FOLDER):
        return []
    return sorted(filter(is_own_folder, (out / _FOLDER).glob(f"{_PREFIX}*")))


def sweep(out: Path) -> list[Path]:
    """Removes them, including password files. Never raises.

    The caller must hold the lock on ``out``.

    Returns:
        The removed folders.
    """
    found = left(out)
    for folder in found:
        with contextlib.suppress(OSError, UsageError):
            remove_tree(folder)
    _remove_empty(out / _FOLDER)
    return [folder for folder in found if not folder.exists()]


class Scratch:
    """The folder, private to this user. Only ``size`` is thread-safe."""

    def __init__(self, out: Path) -> None:
        """Creates it. ``sweep`` has removed what a killed run left.

        Raises:
            TargetError: If it cannot be created.
            UsageError: If the parent folder is a link, or another user's.
        """
        home = (out / _FOLDER).absolute()
        try:
            make_folder(home)
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
        except OSError as error:
            raise TargetError(f"Cannot create {home}: {error.strerror}.", kind="io") from error

    def require(self, needed: int) -> None:
        """Refuses a backup that does not fit.

        Raises:
            DiskFullError: If less than ``needed`` bytes plus 10 % are free.
            TargetError: If the folder cannot be read.
        """
        home = self.path.parent
        try:
            free = shutil.disk_usage(home).free
        except OSError as error:
            raise TargetError(f"Cannot read {home}: {error.strerror}.", kind="io") from error
        if free < needed * _MARGIN:
            raise DiskFullError(
                f"The backup needs about {bytes_text(needed)}, and {home} has only "
                f"{bytes_text(free)} free; free some space, or use --out DIR on another volume."
            )

    def size(self) -> int:
        """Current bytes on storage."""
        return folder_bytes(self.path)

    @contextlib.contextmanager
    def empty_folder(self) -> Generator[Path]:
        """An empty folder for one backup, removed afterwards.

        Raises:
            TargetError: If it cannot be created.
        """
        place = self.path / "backup"
        shutil.rmtree(place, ignore_errors=True)
        try:
            place.mkdir()
        except OSError as error:
            raise TargetError(f"Cannot create {place}: {error.strerror}.", kind="io") from error
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def remove(self) -> None:
        """Removes it, and its parent if empty. Never raises."""
        shutil.rmtree(self.path, ignore_errors=True)
        _remove_empty(self.path.parent)

    def secret(self, name: str, text: str) -> Path:
        """Creates a file that only this user can read, such as one with a password."""
        file = self.path / name
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
        return file


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()

"""Removes the data of a study: private engines and saved states."""

from __future__ import annotations

import contextlib
from pathlib import Path

from dyno.safety.safefiles import is_own_folder
from dyno.studies import loads, saved
from dyno.studies.datasets import forget
from dyno.studies.store import StudyStore
from dyno.workspace.lock import OutLock


def size_bytes(book: StudyStore) -> int:
    """Bytes that its data occupies, in its folder and on volumes of a layout."""
    return sum(map(saved.occupied_bytes, _folders(book)))


def remove(book: StudyStore) -> int:
    """Removes the data and returns the bytes freed; a resumed study loads it again.

    Bundles remain. So does everything in the user's server or database file, and everything that
    Dyno did not create.

    Raises:
        TargetError: If another Dyno uses the data, or something cannot be removed.
    """
    freed = 0
    for out in _folders(book):
        with OutLock(out):
            before = saved.occupied_bytes(out)
            forget(book, out)  # first, so that a partial removal does not count as loaded
            loads.remove_engines(out)
            saved.discard(out)
            with contextlib.suppress(OSError):  # missing, or holds foreign files
                (out / saved.ENGINES).rmdir()
            freed += before - saved.occupied_bytes(out)
    return freed


def _folders(book: StudyStore) -> list[Path]:
    """Folders of data sets with content; links are skipped."""
    every = sorted(filter(is_own_folder, book.folder.glob("data-*")))
    return [out for out in every if (out / saved.ENGINES).is_dir() or saved.is_kept(out)]

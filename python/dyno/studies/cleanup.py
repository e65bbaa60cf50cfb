"""What a study leaves of its data: engines of its own, and the states that runs began from."""

from __future__ import annotations

import contextlib
from pathlib import Path

from dyno.safety.safefiles import is_own_folder
from dyno.studies import loads, saved
from dyno.studies.datasets import forget
from dyno.studies.store import StudyStore
from dyno.workspace.lock import OutLock


def size_bytes(book: StudyStore) -> int:
    """What its data occupies, in its folder and on volumes of a layout."""
    return sum(map(saved.occupied_bytes, _folders(book)))


def remove(book: StudyStore) -> int:
    """Removes it, and returns the bytes that were freed; a study that goes on loads it again.

    Bundles stay, and so does what is in a server or a file of the user's, or what Dyno did not
    make.

    Raises:
        TargetError: If another Dyno is at work on it, or something cannot be removed.
    """
    freed = 0
    for out in _folders(book):
        with OutLock(out):
            before = saved.occupied_bytes(out)
            forget(book, out)  # first: what is half gone must not count as loaded
            loads.remove_engines(out)
            saved.discard(out)
            with contextlib.suppress(OSError):  # there is none, or what Dyno did not make is in it
                (out / saved.ENGINES).rmdir()
            freed += before - saved.occupied_bytes(out)
    return freed


def _folders(book: StudyStore) -> list[Path]:
    """Folders of data sets that hold any; links are no such folders."""
    every = sorted(filter(is_own_folder, book.folder.glob("data-*")))
    return [out for out in every if (out / saved.ENGINES).is_dir() or saved.is_kept(out)]

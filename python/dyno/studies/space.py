"""The free space that sizes all engines of a study: that at its start."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path

from dyno.errors import TargetError
from dyno.servers.volume import SPACE, read_note, space_now, write_note

_NOTE = "space"


@contextlib.contextmanager
def same_for_all(folder: Path) -> Generator[None]:
    """Makes every run in the block size its engine by the same free space.

    Engines have separate folders, which are created one after another and sometimes again. A
    resumed study uses the value stored in its folder.

    Raises:
        TargetError: If it cannot be stored.
    """
    note = folder / _NOTE
    space = read_note(note)
    if space is None:
        try:
            space = space_now(folder)
            write_note(note, space)
        except OSError as error:
            raise TargetError(f"Cannot write {note}: {error.strerror}.", kind="io") from error
    before = os.environ.get(SPACE)
    os.environ[SPACE] = str(space)
    try:
        yield
    finally:
        if before is None:
            del os.environ[SPACE]
        else:
            os.environ[SPACE] = before

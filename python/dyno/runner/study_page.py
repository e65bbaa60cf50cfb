"""Writes the report page of a study whenever the study ends."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.errors import DynoError

if TYPE_CHECKING:
    from dyno.studies.outcome import Outcome
    from dyno.studies.store import StudyStore


def write(book: StudyStore, found: Outcome) -> Path:
    """Writes ``study.html`` to the study folder atomically.

    Raises:
        UsageError: If the store of the study is damaged.
        DiskFullError, TargetError: If it cannot be written.
    """
    from dyno.bundle.writer import write_atomically
    from dyno.report.study import study_report

    page = book.folder / "study.html"
    write_atomically(page, study_report(book, found))
    return page


@contextlib.contextmanager
def also_of_a_part(book: StudyStore) -> Generator[None]:
    """Writes the page of a partial study if the block is interrupted or fails, then re-raises.

    An error while writing the page does not hide the original error.
    """
    try:
        yield
    except (DynoError, KeyboardInterrupt):
        from dyno.studies.analysis import outcome

        with contextlib.suppress(DynoError):
            if book.entries():
                write(book, outcome(book))
        raise

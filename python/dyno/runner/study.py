"""A study as it is looked at, made, and gone on with."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.config.units import bytes_text, parse_seconds
from dyno.errors import DynoError, Interrupted, UsageError
from dyno.runner import study_page
from dyno.runner.jobs import job_of
from dyno.runner.signals import Signals
from dyno.studies import asked, checks, cleanup, earlier, space
from dyno.studies.ending import ending, hint
from dyno.studies.execute import Work
from dyno.studies.forecast import Forecast, forecast
from dyno.studies.overrides import Overrides
from dyno.studies.schedule import Slot, schedule
from dyno.studies.store import StudyStore
from dyno.workspace.lock import OutLock

if TYPE_CHECKING:
    from dyno.runner.events import Events
    from dyno.studies.model import Study

_COLUMNS = 80


def folder_of(study: Study, out: Path) -> Path:
    """Where a study keeps its book, its data and its runs."""
    return out / "studies" / study.name


def slots_of(study: Study) -> list[Slot]:
    """The order of its runs."""
    return schedule([variant.name for variant in study.variants], study.pairs, study.seed)


def require(study: Study, folder: Path) -> None:
    """Refuses what is wrong with a study as far as that can be told before it runs.

    What the plan of a load or run refuses, or the job that it asks for, is refused in its words.

    Raises:
        DynoError: With the variant and the reason.
    """
    checks.require(study)
    for variant in study.variants:
        asked.require_known(variant)
        try:
            plans = (
                asked.load(variant, study, folder / "data-1"),
                asked.run(variant, study.reset, study.seed, folder / "data-1"),
            )
            for plan in plans:
                if plan is not None:
                    job_of(plan)
        except DynoError as error:
            error.args = (f"'{variant.name}': {error}",)
            raise


def ahead(study: Study, slots: list[Slot], out: Path) -> tuple[Forecast, list[str]]:
    """How long the study takes and what room, and what to say before it begins."""
    books = earlier.books(out)
    found = forecast(study, slots, books, out)
    told = [
        *checks.warnings(study, earlier.known(study, books)),
        *found.lines(study, slots, out),
    ]
    return found, told


def resumed(study: Study, folder: Path) -> StudyStore:
    """The book of a study that was begun, which has to be the same one.

    Raises:
        UsageError: If there is none, or it is another, with what differs.
    """
    book = StudyStore.open(folder)
    other = checks.differences(book.study, study)
    if other:
        raise UsageError(
            f"The study in {folder} differs: {'; '.join(other)}. Resume it unchanged, or "
            "use another --out."
        )
    return book


def begun(folder: Path, instead: Overrides, *, resume: bool) -> Study:
    """The study in a folder, as it goes on.

    Raises:
        UsageError: If more than its time limit or its early end would differ.
    """
    book = StudyStore.open(folder)
    if not resume:
        raise UsageError(
            f"A study is in {folder}: resume it with `dyno study --resume {folder}`, `dyno study "
            f"show {folder}` tells what it says."
        )
    if instead != Overrides(time_limit=instead.time_limit, early_stop=instead.early_stop):
        raise UsageError(
            "A study goes on as it was begun; of all that could differ only --time-limit may, and "
            "--no-early-stop."
        )
    study = book.study
    if instead.early_stop is not None:
        study = study.model_copy(update={"early_stop": instead.early_stop})
    if instead.time_limit is not None:
        limit = parse_seconds(instead.time_limit)
        study = study.model_copy(update={"time_limit_s": limit})
    return study


def conduct(study: Study, folder: Path, out: Path, events: Events, *, resume: bool) -> StudyStore:
    """Makes the runs of a study, and gives its book.

    Args:
        study: What is asked.
        folder: Where its book, its data and its runs lie.
        out: The folder whose earlier studies tell how long it takes.
        events: Who hears of it.
        resume: Whether it was begun already.

    Raises:
        DynoError: If it cannot be done.
        Interrupted: If the user stops it; the message says how to go on.
    """
    book = resumed(study, folder) if resume else None
    if book is not None:
        _go_to(book, events.say)
    require(study, folder)
    checks.require_installed(study)
    if OutLock.held(folder):
        raise UsageError(f"A study is at work in {folder}; wait for it, or give another --out.")
    slots = slots_of(study)
    found, told = ahead(study, slots, out)
    if book is None:
        found.require_room(out)
    with OutLock(folder), Signals() as signals:
        if book is None:
            book = StudyStore.begin(folder, study, slots)
        else:
            book.go_on(study.time_limit_s, study.early_stop)
        for line in told:
            events.say(wrapped(line))
        try:
            signals.begin_work()
            with study_page.also_of_a_part(book), space.same_for_all(folder):
                ended = Work(book, events.say, found).run()
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"Interrupted. {hint(book, ending(book))}") from None
        finally:
            signals.end_work()
        events.say(f"Ended: {ended}.")
        if not ending(book).goes_on:
            _clear(book, events)
    return book


def wrapped(text: str) -> str:
    """A text in lines of at most 80 columns."""
    return "\n".join(
        textwrap.wrap(
            text,
            _COLUMNS,
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    )


def _clear(book: StudyStore, events: Events) -> None:
    """Removes the data of a study that is over; that it cannot be is told, and no more."""
    try:
        freed = cleanup.remove(book)
    except DynoError as error:
        events.warn(f"! The data of the study stays: {error}")
        return
    if freed:
        events.say(f"Its data was removed, {bytes_text(freed)}; runs and figures stay.")


def _go_to(book: StudyStore, say: Callable[[str], None]) -> None:
    """Works where the study was begun, which paths in it may be relative to.

    Raises:
        UsageError: If that folder is gone.
    """
    if book.cwd == Path.cwd():
        return
    try:
        os.chdir(book.cwd)
    except OSError as error:
        raise UsageError(
            f"The study was begun in {book.cwd}, which its paths may be relative to, and that "
            f"cannot be gone to: {error.strerror}."
        ) from error
    say(f"Goes on in {book.cwd}, where it was begun.")

"""Previews, runs and resumes a study."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dyno.config.units import bytes_text, parse_seconds
from dyno.errors import DynoError, Interrupted, UsageError
from dyno.runner import needed, study_page
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
    from dyno.runner.session import Job
    from dyno.studies.model import Study

_COLUMNS = 80


def folder_of(study: Study, out: Path) -> Path:
    """Returns the folder of the store, data and runs of a study."""
    return out / "studies" / study.name


def slots_of(study: Study) -> list[Slot]:
    """Returns the order of the runs."""
    return schedule([variant.name for variant in study.variants], study.pairs, study.seed)


def require(study: Study, folder: Path) -> list[tuple[str, Job]]:
    """Rejects an invalid study, as far as can be checked before it runs.

    Errors of a load or run plan, or of its job, keep their message.

    Returns:
        The jobs of each variant, with its name.

    Raises:
        DynoError: With the variant and the reason.
    """
    checks.require(study)
    jobs: list[tuple[str, Job]] = []
    for variant in study.variants:
        asked.require_known(variant)
        try:
            plans = (
                *asked.loads(variant, study, folder / "data-1"),
                asked.run(variant, study.reset, study.seed, folder / "data-1"),
            )
            jobs += [(variant.name, job_of(plan)) for plan in plans]
        except DynoError as error:
            error.args = (f"'{variant.name}': {error}",)
            raise
    return jobs


def questions(study: Study, folder: Path) -> list[str]:
    """What the user must agree to before the study changes tables that Dyno did not create.

    Raises:
        DynoError: As :func:`require`.
    """
    found = dict.fromkeys(job.question for _, job in require(study, folder))
    return [question for question in found if question]


def ahead(study: Study, slots: list[Slot], out: Path) -> tuple[Forecast, list[str]]:
    """Returns the forecast of time and space, and the messages to show before the start."""
    books = earlier.books(out)
    found = forecast(study, slots, books, out)
    messages = [
        *checks.warnings(study, earlier.known(study, books)),
        *found.lines(study, slots, out),
    ]
    return found, messages


def resumed(study: Study, folder: Path) -> StudyStore:
    """Opens the store of a study to resume. The study must be the same.

    Raises:
        UsageError: If there is none, or the study differs, with the differences.
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
    """Returns the study in a folder as it resumes.

    Raises:
        UsageError: If more than the time limit or early stop would change.
    """
    book = StudyStore.open(folder)
    if not resume:
        raise UsageError(
            f"A study is in {folder}: resume it with `dyno study --resume {folder}`, or show its "
            f"results with `dyno study show {folder}`."
        )
    if instead != Overrides(time_limit=instead.time_limit, early_stop=instead.early_stop):
        raise UsageError(
            "A study resumes unchanged; only --time-limit and --no-early-stop may differ."
        )
    study = book.study
    if instead.early_stop is not None:
        study = study.model_copy(update={"early_stop": instead.early_stop})
    if instead.time_limit is not None:
        limit = parse_seconds(instead.time_limit)
        study = study.model_copy(update={"time_limit_s": limit})
    return study


def conduct(study: Study, folder: Path, out: Path, events: Events, *, resume: bool) -> StudyStore:
    """Runs a study and returns its store.

    Args:
        study: The study.
        folder: Folder of its store, data and runs.
        out: Folder with earlier studies, the basis of the forecast.
        events: Receives the events.
        resume: Whether to resume the study.

    Raises:
        DynoError: If the study fails.
        Interrupted: If the user stops it; the message says how to resume.
    """
    book = resumed(study, folder) if resume else None
    if book is not None:
        _go_to(book, events.say)
    jobs = require(study, folder)
    checks.require_installed(study)
    if OutLock.held(folder):
        raise UsageError(f"A study is running in {folder}; wait for it, or use another --out.")
    needed.require(jobs)
    slots = slots_of(study)
    found, messages = ahead(study, slots, out)
    if book is None:
        found.require_space(out)
    with OutLock(folder), Signals() as signals:
        if book is None:
            book = StudyStore.begin(folder, study, slots)
        else:
            book.go_on(study.time_limit_s, study.early_stop)
        for line in messages:
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
    """Wraps a text at 80 columns."""
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
    """Removes the data of a finished study. A failure is only reported."""
    try:
        freed = cleanup.remove(book)
    except DynoError as error:
        events.warn(f"! The data of the study was kept: {error}")
        return
    if freed:
        events.say(f"Its data was removed, {bytes_text(freed)}; runs and results are kept.")


def _go_to(book: StudyStore, say: Callable[[str], None]) -> None:
    """Changes to the directory where the study was started, because its paths may be relative.

    Raises:
        UsageError: If the directory no longer exists.
    """
    if book.cwd == Path.cwd():
        return
    try:
        os.chdir(book.cwd)
    except OSError as error:
        raise UsageError(
            f"Cannot enter {book.cwd}, where the study started and which its paths may be "
            f"relative to: {error.strerror}."
        ) from error
    say(f"Resuming in {book.cwd}, where it started.")

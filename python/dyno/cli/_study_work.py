"""A study as it is worked on, gone on with, told, and cleaned up after."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.errors import EXIT_INVALID, DynoError, Interrupted, UsageError
from dyno.safety import plainjson
from dyno.safety.text import shown

if TYPE_CHECKING:
    from dyno.cli._console import Console
    from dyno.cli._options import Options
    from dyno.studies.model import Study
    from dyno.studies.overrides import Overrides
    from dyno.studies.store import StudyStore


def begun(text: str) -> Path | None:
    """The folder of a study that was begun, if ``text`` is one; a name of a preset is none."""
    from dyno import studies

    folder = Path(text).expanduser().absolute()
    is_one = text not in studies.names() and (folder / "study.json").is_file()
    return folder if is_one else None


def go_on(folder: Path, instead: Overrides, resume: bool, options: Options) -> int:
    """Goes on with the study in a folder, as it was begun.

    Raises:
        UsageError: If more than its time limit or its early end would differ.
    """
    from dyno.config.units import parse_seconds
    from dyno.studies.overrides import Overrides
    from dyno.studies.store import StudyStore

    book = StudyStore.open(folder)
    if not resume:
        raise UsageError(
            f"A study is in {folder}: `dyno study --resume {folder}` goes on with it, `dyno study "
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
    if folder.parent.name == "studies":
        options = dataclasses.replace(options, out=folder.parent.parent)
    return conduct(study, True, options, folder)


def conduct(study: Study, resume: bool, options: Options, folder: Path | None = None) -> int:
    """Makes the runs of a study and tells what they say; returns the exit code.

    Args:
        study: What is asked.
        resume: Whether it was begun already.
        options: The shared options.
        folder: Where it was begun, if that is not where ``--out`` says.

    Raises:
        DynoError: If it cannot be done.
        Interrupted: If the user stops it; the message says how to go on.
    """
    from dyno.cli import _study, _study_page
    from dyno.cli._console import Console
    from dyno.runner.signals import Signals
    from dyno.studies import checks, space
    from dyno.studies.ending import ending, hint
    from dyno.studies.execute import Work
    from dyno.studies.store import StudyStore
    from dyno.workspace.lock import OutLock

    console = Console(quiet=options.quiet)
    folder = folder or _study.folder_of(study, options)
    book = _study.resumed(study, folder) if resume else None
    if book is not None:
        _go_to(book, console.say)
    _study.require(study, folder)
    checks.require_installed(study)
    if OutLock.held(folder):
        raise UsageError(f"A study is at work in {folder}; wait for it, or give another --out.")
    slots = _study.slots_of(study)
    ahead, told = _study.ahead(study, slots, options.out)
    if book is None:
        ahead.require_room(options.out)
    with OutLock(folder), Signals() as signals:
        if book is None:
            book = StudyStore.begin(folder, study, slots)
        else:
            book.go_on(study.time_limit_s, study.early_stop)
        for line in told:
            console.say(_study.wrapped(line))
        try:
            signals.begin_work()
            with _study_page.also_of_a_part(book), space.same_for_all(folder):
                ended = Work(book, console.say, ahead).run()
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"Interrupted. {hint(book, ending(book))}") from None
        finally:
            signals.end_work()
        console.say(f"Ended: {ended}.")
        if not ending(book).goes_on:
            _clear(book, console)
    return tell(book, options)


def tell(book: StudyStore, options: Options) -> int:
    """Prints what a study says, and how it goes on if it was stopped; returns the exit code."""
    from dyno.cli import _study, _study_page
    from dyno.config.units import bytes_text
    from dyno.studies import cleanup
    from dyno.studies.analysis import outcome
    from dyno.studies.document import document
    from dyno.studies.ending import ending, words
    from dyno.studies.text import lines

    found = outcome(book)
    page = _study_page.write(book, found)
    if options.as_json:
        click.echo(plainjson.dumps({**document(book, found), "page": str(page)}))
    else:
        click.echo(shown("\n".join(lines(book.study, found, book.entries()))))
        state = ending(book)
        stopped = words(book, state)
        if stopped:
            click.echo(shown(_study.wrapped(f"! {stopped}")))
        if state.goes_on and (size := cleanup.size_bytes(book)):
            click.echo(_study.wrapped(
                f"  Its data stays for that, {bytes_text(size)}; `dyno study clean "
                f"{book.folder}` removes it."
            ))  # fmt: skip
        click.echo(f"Page: {page}")
    answered = any(one.headline and one.percent is not None for one in found.comparisons)
    return 0 if answered and not found.disqualified else EXIT_INVALID


def clean(folder: Path, options: Options) -> int:
    """Removes the data of a study that is not at work; returns the exit code.

    Raises:
        UsageError: If it is at work, or there is none.
        TargetError: If something cannot be removed.
    """
    from dyno.config.units import bytes_text
    from dyno.studies import cleanup
    from dyno.studies.store import StudyStore
    from dyno.workspace.lock import OutLock

    book = StudyStore.open(folder)
    if OutLock.held(folder):
        raise UsageError(f"A study is at work in {folder}; wait for it, or stop it.")
    size = cleanup.size_bytes(book)
    if size and not options.yes:
        question = f"Remove the data of the study in {folder}, {bytes_text(size)}?"
        if not click.confirm(question, err=True):
            click.echo("Nothing removed.", err=True)
            return 0
    with OutLock(folder):
        freed = cleanup.remove(book)
    if options.as_json:
        click.echo(plainjson.dumps({"folder": str(folder), "bytes": freed}))
    else:
        click.echo(f"Removed {bytes_text(freed)}." if freed else "Nothing to remove.")
    return 0


def _clear(book: StudyStore, console: Console) -> None:
    """Removes the data of a study that is over; that it cannot be is told, and no more."""
    from dyno.config.units import bytes_text
    from dyno.studies import cleanup

    try:
        freed = cleanup.remove(book)
    except DynoError as error:
        console.warn(f"! The data of the study stays: {error}")
        return
    if freed:
        console.say(f"Its data was removed, {bytes_text(freed)}; runs and figures stay.")


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

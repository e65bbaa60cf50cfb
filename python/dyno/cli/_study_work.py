"""Runs, reports and cleans up studies for the subcommands of ``dyno study``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli._study_live import shown
from dyno.errors import EXIT_INVALID, UsageError
from dyno.safety import plainjson
from dyno.safety.text import shown as printable

if TYPE_CHECKING:
    from dyno.cli._options import Options
    from dyno.studies.model import Study
    from dyno.studies.overrides import Overrides
    from dyno.studies.store import StudyStore


def begun(text: str) -> Path | None:
    """The folder of a started study if ``text`` names one, and not a preset."""
    from dyno import studies

    folder = Path(text).expanduser().absolute()
    is_one = text not in studies.names() and (folder / "study.json").is_file()
    return folder if is_one else None


def go_on(folder: Path, instead: Overrides, resume: bool, options: Options) -> int:
    """Resumes the study in a folder; returns the exit code.

    Raises:
        UsageError: If options other than its time limit or early stop differ.
    """
    from dyno.runner import study as work

    study = work.begun(folder, instead, resume=resume)
    out = folder.parent.parent if folder.parent.name == "studies" else options.out
    return _conduct(study, folder, out, options, resume=True)


def conduct(study: Study, resume: bool, options: Options) -> int:
    """Runs a study and prints its result; returns the exit code.

    Raises:
        DynoError: If it cannot be done.
        Interrupted: If the user stops it; the message says how to resume.
    """
    from dyno.runner import study as work

    folder = work.folder_of(study, options.out)
    return _conduct(study, folder, options.out, options, resume=resume)


def _conduct(study: Study, folder: Path, out: Path, options: Options, *, resume: bool) -> int:
    from dyno.cli._console import Console
    from dyno.runner import study as work

    asked = [] if options.yes else work.questions(study, folder)
    if not all(click.confirm(question, err=True) for question in asked):
        click.echo("Nothing run.", err=True)
        return 0
    console = Console(quiet=options.quiet)
    with shown(folder, console, options):
        book = work.conduct(study, folder, out, console, resume=resume)
    return print_result(book, options)


def print_result(book: StudyStore, options: Options) -> int:
    """Prints the results of a study, and how to resume it if stopped; returns the exit code."""
    from dyno.config.units import bytes_text
    from dyno.runner import study_page
    from dyno.runner.study import wrapped
    from dyno.studies import cleanup
    from dyno.studies.analysis import outcome
    from dyno.studies.document import document
    from dyno.studies.ending import ending, words
    from dyno.studies.text import lines

    found = outcome(book)
    page = study_page.write(book, found)
    if options.as_json:
        click.echo(plainjson.dumps({**document(book, found), "page": str(page)}))
    else:
        click.echo(printable("\n".join(lines(book.study, found, book.entries()))))
        state = ending(book)
        stopped = words(book, state)
        if stopped:
            click.echo(printable(wrapped(f"! {stopped}")))
        if state.goes_on and (size := cleanup.size_bytes(book)):
            click.echo(wrapped(
                f"  Its data ({bytes_text(size)}) stays for that; `dyno study clean "
                f"{book.folder}` removes it."
            ))  # fmt: skip
        click.echo(f"Page: {page}")
    answered = any(one.headline and one.percent is not None for one in found.comparisons)
    return 0 if answered and not found.disqualified else EXIT_INVALID


def clean(folder: Path, options: Options) -> int:
    """Removes the data of a study that is not running; returns the exit code.

    Raises:
        UsageError: If the study is running, or there is none.
        TargetError: If something cannot be removed.
    """
    from dyno.config.units import bytes_text
    from dyno.studies import cleanup
    from dyno.studies.store import StudyStore
    from dyno.workspace.lock import OutLock

    book = StudyStore.open(folder)
    if OutLock.held(folder):
        raise UsageError(f"A study is running in {folder}; wait for it, or stop it.")
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

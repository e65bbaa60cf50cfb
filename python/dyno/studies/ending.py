"""The state of a study: complete, running or stopped, and how to resume it."""

from __future__ import annotations

import shlex
from typing import Literal

from dyno.bundle.model import Model
from dyno.safety.text import sentence
from dyno.studies.store import Note, StudyStore
from dyno.workspace.lock import OutLock

Kind = Literal["over", "limit", "early", "interrupted", "failed", "cut off", "at work"]

ALL_MADE = "all runs made"
LIMIT = "the time limit was reached"
CUT_OFF = "cut off: its process was killed, or the machine went down"
INTERRUPTED = "interrupted by the user or a signal"


class Ending(Model):
    """The state of a study.

    Attributes:
        kind: ``over``: complete; ``early``: stopped for futility; ``failed``: stopped by an error.
        text: The reason.
        missing: Planned runs without a result that counts.
        runs: Planned runs.
    """

    kind: Kind
    text: str
    missing: int
    runs: int

    @property
    def goes_on(self) -> bool:
        """Whether ``--resume`` has work left."""
        return self.kind not in {"over", "at work"}


def ending(book: StudyStore) -> Ending:
    """The state of the study of a journal.

    Raises:
        UsageError: If the journal is damaged.
    """
    done = {entry.place for entry in book.entries() if entry.counts}
    missing = len(book.slots) - len(done)
    kind, text = _state(book, missing)
    return Ending(kind=kind, text=text, missing=missing, runs=len(book.slots))


def resume_words(book: StudyStore, state: Ending, folder: str = "") -> str:
    """The command that resumes a study, quoted for a shell."""
    more = {"limit": " --time-limit LONGER", "early": " --no-early-stop"}.get(state.kind, "")
    return f"dyno study --resume {folder or shlex.quote(str(book.folder))}{more}"


def words(book: StudyStore, state: Ending) -> str:
    """The state of an incomplete study; empty if it is complete."""
    if state.kind == "at work":
        made = state.runs - state.missing
        return f"Running: {made} of {state.runs} runs done."
    return f"{sentence(state.text)} {hint(book, state)}" if state.goes_on else ""


def hint(book: StudyStore, state: Ending) -> str:
    """The progress of a stopped study, and how to resume it."""
    made = state.runs - state.missing
    return (
        f"{made} of {state.runs} runs are in {book.folder}. Resume: `{resume_words(book, state)}`."
    )


def _state(book: StudyStore, missing: int) -> tuple[Kind, str]:
    last: Note | None = None
    for note in book.notes():
        if note.kind in {"begun", "ended"}:
            last = note
    if last is not None and last.kind == "begun" and OutLock.held(book.folder):
        return "at work", "at work"
    match last.how if last is not None and last.kind == "ended" else "", last and last.text:
        case "done", str(text):
            return "limit" if text == LIMIT else "over", text
        case ("early" | "interrupted" | "failed") as how, str(text):
            return how, text
        case _:
            return ("cut off", CUT_OFF) if missing else ("over", ALL_MADE)

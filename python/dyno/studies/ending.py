"""How a study stands: whether it is over, at work, or was stopped, and how it then goes on."""

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
    """How a study stands.

    Attributes:
        kind: ``over`` says that nothing is left to do; ``early`` that what was left could not have
            answered the study; ``failed`` that an error stopped it.
        text: The same in words.
        missing: Runs of the plan that have no result that counts.
        runs: Runs of the plan.
    """

    kind: Kind
    text: str
    missing: int
    runs: int

    @property
    def goes_on(self) -> bool:
        """Whether ``--resume`` has something left to do."""
        return self.kind not in {"over", "at work"}


def ending(book: StudyStore) -> Ending:
    """How the study of a book stands, by its notes.

    Raises:
        UsageError: If the book is damaged.
    """
    done = {entry.place for entry in book.entries() if entry.counts}
    missing = len(book.slots) - len(done)
    kind, text = _told(book, missing)
    return Ending(kind=kind, text=text, missing=missing, runs=len(book.slots))


def resume_words(book: StudyStore, state: Ending, folder: str = "") -> str:
    """The command that goes on with a study; it is quoted for a shell."""
    more = {"limit": " --time-limit LONGER", "early": " --no-early-stop"}.get(state.kind, "")
    return f"dyno study --resume {folder or shlex.quote(str(book.folder))}{more}"


def words(book: StudyStore, state: Ending) -> str:
    """What a reader must know of a study that is not over; empty if it is."""
    if state.kind == "at work":
        made = state.runs - state.missing
        return f"It is at work: {made} of {state.runs} runs are made."
    return f"{sentence(state.text)} {hint(book, state)}" if state.goes_on else ""


def hint(book: StudyStore, state: Ending) -> str:
    """How much there is of a study that was stopped, and how to go on."""
    made = state.runs - state.missing
    return (
        f"{made} of {state.runs} runs are in {book.folder}; `{resume_words(book, state)}` goes on."
    )


def _told(book: StudyStore, missing: int) -> tuple[Kind, str]:
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

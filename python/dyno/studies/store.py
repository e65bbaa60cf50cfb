"""The folder of a study: its plan, and a journal of its runs that survives a kill."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, computed_field, model_validator

from dyno.bundle.model import Model, Outcome
from dyno.errors import UsageError
from dyno.safety import safefiles
from dyno.safety.text import clauses
from dyno.studies import journal, moments
from dyno.studies.model import Study
from dyno.studies.outcome import Futility
from dyno.studies.schedule import Slot

_PLAN, _JOURNAL, _NOTES, _BEGUN = "study.json", "runs.jsonl", "notes.jsonl", "begun.json"
_SHOWN = 2
"""Reasons in a line; a run on several databases has one for each of them."""


class Entry(Model):
    """A completed run.

    Attributes:
        place: The position of its slot.
        attempt: From 1; later attempts replace an invalid run.
        bundle: Its folder, relative to the study's; None if it has no bundle.
        code: The exit code.
        verdict: The verdict of its record. A disturbed run counts: runs alternate and are compared
            in pairs, so the disturbance shows as noise in the interval. An invalid run never
            counts.
        reasons: Why it is not valid, as text.
        broken: Criteria that it violates, as text. The run stays valid, but its variant is
            disqualified.
        codes: The codes of the reasons.
        figures: Values of the study's metrics by name.
    """

    place: int
    attempt: int
    variant: str
    pair: int
    bundle: str | None
    code: int
    verdict: Outcome
    reasons: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    figures: dict[str, float] = {}
    started: float
    ended: float

    @model_validator(mode="before")
    @classmethod
    def _of_before(cls, given: Any) -> Any:
        """Converts entries of older journals, which only store whether a run is valid."""
        if not isinstance(given, dict) or "valid" not in given:
            return given  # pyright: ignore[reportUnknownVariableType]
        rest: dict[str, Any] = {key: one for key, one in given.items() if key != "valid"}  # pyright: ignore[reportUnknownVariableType]
        return {"verdict": "valid" if given["valid"] is True else "invalid", **rest}

    @computed_field
    @property
    def valid(self) -> bool:
        """Whether its values are reliable on their own, according to its record."""
        return self.verdict == "valid"

    @property
    def counts(self) -> bool:
        """Whether its values are used for the study's results."""
        return self.verdict != "invalid"

    @property
    def disturbed(self) -> bool:
        """Whether it counts although its environment was not quiet."""
        return self.verdict == "disturbed"

    @property
    def why_not(self) -> str:
        """Why it is not valid, as text: the first reasons; all of them are in its bundle."""
        more = len(self.reasons) - _SHOWN
        rest = (f"and {more} more",) if more > 0 else ()
        return clauses((*self.reasons[:_SHOWN], *rest)) or f"exit code {self.code}"


class Begun(Model):
    """A run that is about to start.

    Attributes:
        place, pair, variant, attempt: As in its entry.
        started: Start time, seconds since the epoch.
        out: Name of the folder of its data and bundle, in the study's folder.
        words: Its command line.
    """

    place: int
    pair: int
    variant: str
    attempt: int
    started: float
    out: str = Field(pattern=r"^data-\d+$")
    words: tuple[str, ...]


class Note(Model):
    """A journal event other than a run.

    Attributes:
        kind: ``begun`` and ``ended`` for a session, which is a process that works on the study;
            ``load``, ``keep`` and ``restore`` for data; ``dropped`` for a variant.
        at: End time, seconds since the epoch.
        variant: The dropped variant, or the one that needed the data.
        data: The data set, from 1.
        seconds, size_bytes: Duration and size.
        shared: Whether a copy shares its blocks with the original.
        text: The reason.
        how: How a session ended: ``done`` if it completed; ``early`` if it stopped for futility.
        futility: The details of a futility stop.
    """

    kind: Literal["begun", "ended", "load", "keep", "restore", "dropped"]
    at: float
    variant: str = ""
    data: int = 0
    seconds: float = 0.0
    size_bytes: int = 0
    shared: bool = False
    text: str = ""
    how: Literal["", "done", "early", "interrupted", "failed", "killed"] = ""
    futility: Futility | None = None


class StudyStore:
    """A study's folder.

    Attributes:
        cwd: The working directory of its command, the base of relative paths.
    """

    def __init__(self, folder: Path, study: Study, slots: list[Slot]) -> None:
        """Use ``begin`` or ``open`` instead."""
        # The user may name the folder by a link; files in it are never written through links.
        self.folder = folder.resolve() if folder.is_symlink() else folder
        self.study, self.slots = study, slots
        self.cwd = Path.cwd()

    @classmethod
    def begin(cls, folder: Path, study: Study, slots: list[Slot]) -> StudyStore:
        """Creates a new folder with the plan.

        Raises:
            UsageError: If the folder already has a study.
        """
        if (folder / _PLAN).exists():
            raise UsageError(f"{folder} already has a study. Use --resume, or another --out.")
        folder.mkdir(parents=True, exist_ok=True)
        made = cls(folder, study, slots)
        made._write_plan()
        return made

    @classmethod
    def open(cls, folder: Path) -> StudyStore:
        """Opens the folder of a started study.

        Raises:
            UsageError: If it does not exist or cannot be read.
        """
        try:
            plan = json.loads(safefiles.read_text(folder / _PLAN, journal.LONGEST))
            study = Study.model_validate(plan["study"])
            slots = [Slot.model_validate(slot) for slot in plan["slots"]]
            cwd = Path(plan.get("cwd", Path.cwd()))
        except FileNotFoundError as error:
            raise UsageError(f"There is no study in {folder}.") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise UsageError(
                f"The study in {folder} has an unknown format ({where}: {first['msg']})."
            ) from error
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise UsageError(f"The study in {folder} cannot be read: {error}.") from error
        made = cls(folder, study, slots)
        made.cwd = cwd
        return made

    def entries(self) -> list[Entry]:
        """The completed runs in order; skips an incomplete last line.

        Raises:
            UsageError: If a line is invalid.
        """
        return journal.read(self.folder / _JOURNAL, Entry)

    def add(self, entry: Entry) -> None:
        """Appends a run, durably."""
        journal.append(self.folder / _JOURNAL, entry)

    def begin_run(self, begun: Begun) -> None:
        """Records the run that is about to start, durably; replaces the previous record."""
        from dyno.bundle.writer import write_atomically

        write_atomically(self.folder / _BEGUN, begun.model_dump_json())

    def begun_run(self) -> Begun | None:
        """The last run that started, if it has no entry."""
        try:
            begun = Begun.model_validate_json(
                safefiles.read_text(self.folder / _BEGUN, journal.LONGEST)
            )
        except (OSError, ValueError, UsageError):
            return None  # the run is repeated, which only costs time
        done = {(entry.place, entry.attempt) for entry in self.entries()}
        return None if (begun.place, begun.attempt) in done else begun

    def notes(self) -> list[Note]:
        """The events other than runs, in order.

        Raises:
            UsageError: If a line is invalid.
        """
        return journal.read(self.folder / _NOTES, Note)

    def note(self, note: Note) -> None:
        """Appends an event, durably."""
        journal.append(self.folder / _NOTES, note)

    def dropped(self) -> dict[str, str]:
        """Dropped variants and the reasons."""
        return {note.variant: note.text for note in self.notes() if note.kind == "dropped"}

    def begin_session(self) -> float:
        """Starts a session; returns the seconds of all earlier sessions.

        A killed session ends at the last write of its runs.
        """
        total, begun = 0.0, None
        for note in self.notes():
            if note.kind == "begun":
                begun = note.at
            elif note.kind == "ended" and begun is not None:
                total, begun = total + note.at - begun, None
        if begun is not None:
            end = max(begun, self._last_sign())
            self.note(Note(kind="ended", at=end, text="killed", how="killed"))
            total += end - begun
        self.note(Note(kind="begun", at=moments.now()))
        return total

    def _last_sign(self) -> float:
        """The time of the last write in the folder, including bundles."""
        found = [path.stat().st_mtime for path in (self.folder / _JOURNAL, self.folder / _NOTES)
                 if path.exists()]  # fmt: skip
        for bundle in self.folder.glob("data-*/*Z-*"):
            for path in (bundle, *bundle.iterdir()):
                with contextlib.suppress(OSError):
                    found.append(path.stat().st_mtime)
        return max(found, default=0.0)

    def go_on(self, seconds: float | None, early_stop: bool) -> None:
        """Changes the time limit of the study, and whether it may stop early."""
        ends = {"time_limit_s": seconds, "early_stop": early_stop}
        changed = self.study.model_copy(update=ends)
        if changed != self.study:
            self.study = changed
            self._write_plan()

    def _write_plan(self) -> None:
        from dyno.bundle.writer import write_atomically

        plan = {
            "study": self.study.model_dump(mode="json"),
            "slots": [slot.model_dump(mode="json") for slot in self.slots],
            "cwd": str(self.cwd),
        }
        write_atomically(self.folder / _PLAN, json.dumps(plan, indent=1))

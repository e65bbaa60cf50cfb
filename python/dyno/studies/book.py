"""The book of a study: its plan, and a journal of its runs that a kill leaves readable."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dyno.errors import UsageError
from dyno.model import Model
from dyno.studies.model import Study
from dyno.studies.schedule import Slot

_PLAN, _JOURNAL, _OUTCOME = "study.json", "runs.jsonl", "outcome.json"


class Entry(Model):
    """A run that has ended.

    Attributes:
        place: Of its slot.
        attempt: From 1; later ones take the place of an invalid run.
        bundle: Its folder, relative to the study's; None if it came to none.
        code: The exit code.
        valid: Whether its figures count.
        reasons: Why not, in words.
        broken: Criteria that the run did not keep; its figures count all the same.
        codes: Of the reasons.
        figures: Values of the study's metrics by name.
    """

    place: int
    attempt: int
    variant: str
    pair: int
    bundle: str | None
    code: int
    valid: bool
    reasons: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    figures: dict[str, float] = {}
    started: float
    ended: float


class Book:
    """A study's folder."""

    def __init__(self, folder: Path, study: Study, slots: list[Slot]) -> None:
        """That of a study; see ``begin`` and ``open``."""
        self.folder, self.study, self.slots = folder, study, slots

    @classmethod
    def begin(cls, folder: Path, study: Study, slots: list[Slot]) -> Book:
        """A new folder with the plan in it.

        Raises:
            UsageError: If a study is there already.
        """
        from dyno.record import write_atomically

        if (folder / _PLAN).exists():
            raise UsageError(f"A study is in {folder} already; give --resume, or another --out.")
        folder.mkdir(parents=True, exist_ok=True)
        plan = {
            "study": study.model_dump(mode="json"),
            "slots": [slot.model_dump(mode="json") for slot in slots],
        }
        write_atomically(folder / _PLAN, json.dumps(plan, indent=1))
        return cls(folder, study, slots)

    @classmethod
    def open(cls, folder: Path) -> Book:
        """The book of a study that was begun.

        Raises:
            UsageError: If there is none, or it cannot be read.
        """
        try:
            plan = json.loads((folder / _PLAN).read_text("utf-8"))
            study = Study.model_validate(plan["study"])
            slots = [Slot.model_validate(slot) for slot in plan["slots"]]
        except FileNotFoundError as error:
            raise UsageError(f"There is no study in {folder}.") from error
        except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
            raise UsageError(f"The study in {folder} cannot be read: {error}.") from error
        return cls(folder, study, slots)

    def entries(self) -> list[Entry]:
        """The runs that ended, in their order; a last line that a kill cut off is left out.

        Raises:
            UsageError: If a line makes no sense.
        """
        path = self.folder / _JOURNAL
        if not path.exists():
            return []
        lines = path.read_text("utf-8").splitlines(keepends=True)
        try:
            return [Entry.model_validate_json(line) for line in lines if line.endswith("\n")]
        except ValidationError as error:
            raise UsageError(f"{path} is damaged: {error.errors()[0]['msg']}.") from error

    def add(self, entry: Entry) -> None:
        """Appends a run, durably."""
        path = self.folder / _JOURNAL
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            size = os.lseek(fd, 0, os.SEEK_END)
            kept = os.pread(fd, size, 0).rfind(b"\n") + 1
            os.ftruncate(fd, kept)  # a line that a kill cut off
            os.pwrite(fd, entry.model_dump_json().encode() + b"\n", kept)
            os.fsync(fd)
        finally:
            os.close(fd)

    def told(self) -> dict[str, Any]:
        """What ``tell`` kept; empty if it was not called yet, or the file cannot be read."""
        try:
            facts = json.loads((self.folder / _OUTCOME).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return facts if isinstance(facts, dict) else {}

    def tell(self, facts: dict[str, Any]) -> None:
        """Keeps what is not a run: how it ended, what was dropped."""
        from dyno.record import write_atomically

        write_atomically(self.folder / _OUTCOME, json.dumps(facts, indent=1))

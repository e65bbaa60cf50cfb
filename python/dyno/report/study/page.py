"""What the sections of a study's page draw on: its book, its runs' bundles, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from dyno import workloads
from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from dyno.studies.ending import Ending, ending, resume_words
from dyno.studies.model import Study, Variant
from dyno.studies.outcome import Comparison, Effect, Fit, Outcome
from dyno.studies.pairs import counted, figures
from dyno.studies.store import Entry, StudyStore


@dataclass(frozen=True)
class StudyPage:
    """A study, as the sections ask for it. Books of others are untrusted input."""

    book: StudyStore
    outcome: Outcome
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, book: StudyStore, outcome: Outcome) -> StudyPage:
        """That of ``book``, of which analysis says ``outcome``."""
        return cls(book, outcome, tuple(sorted(book.entries(), key=lambda one: one.started)))

    @property
    def study(self) -> Study:
        """What was asked."""
        return self.book.study

    @property
    def first(self) -> Variant:
        """What the others are compared with."""
        return self.study.variants[0]

    @property
    def headline(self) -> list[Comparison]:
        """What the answer is about."""
        return [one for one in self.outcome.comparisons if one.headline]

    @property
    def exploratory(self) -> list[Comparison]:
        """What was looked at as well."""
        return [one for one in self.outcome.comparisons if not one.headline]

    @property
    def effects(self) -> list[Effect]:
        """Of factors, those on headline figures first."""
        return sorted(self.outcome.effects, key=lambda one: not one.headline)

    @property
    def fits(self) -> list[Fit]:
        """Of growth, those of headline figures first, then what grows most."""
        return sorted(self.outcome.fits, key=lambda one: (not one.headline, -one.exponent.value))

    @cached_property
    def figures(self) -> list[str]:
        """Names of headline figures that runs have."""
        return [name for name, headline in figures(self.study, self.entries) if headline]

    @cached_property
    def counted(self) -> set[tuple[int, int, str]]:
        """Place, attempt and variant of the runs whose figures count."""
        last = counted(self.entries).values()
        return {(entry.place, entry.attempt, entry.variant) for entry in last}

    def counts(self, entry: Entry) -> bool:
        """Whether a run's figures count."""
        return (entry.place, entry.attempt, entry.variant) in self.counted

    @cached_property
    def state(self) -> Ending:
        """How the study stands."""
        return ending(self.book)

    @property
    def ended(self) -> str:
        """Why it ended, or what stopped it."""
        return self.state.text

    @property
    def resume(self) -> str:
        """How to go on with it; empty where nothing is left to do."""
        state = self.state
        if not state.goes_on:
            return ""
        return f"`{resume_words(self.book, state, 'FOLDER')}` goes on; FOLDER is that of this page."

    @property
    def notice(self) -> str:
        """What goes with every figure that is derived from a TPC workload."""
        return " ".join(self.notices)

    @property
    def notices(self) -> tuple[str, ...]:
        """The notice of each of its workloads."""
        return workloads.notices(variant.workload for variant in self.study.variants)

    def sheet(self, entry: Entry) -> str:
        """The way from the study's page to a run's sheet; empty if there is none."""
        path = self._inside(entry.bundle)
        if path is None or not (self.book.folder / path / "sheet.html").is_file():
            return ""
        return f"./{quote(path.as_posix())}/sheet.html"

    @cached_property
    def bundles(self) -> dict[str, Bundle]:
        """A bundle of each variant: that of its last run that counts and can be read."""
        found: dict[str, Bundle] = {}
        for entry in reversed(self.entries):
            path = self._inside(entry.bundle)
            if entry.counts and entry.variant not in found and path is not None:
                try:
                    found[entry.variant] = Bundle.open(self.book.folder / path)
                except UsageError:
                    continue
        return found

    def _inside(self, text: str | None) -> PurePosixPath | None:
        """A path that leads nowhere but into the study's folder."""
        path = PurePosixPath(text or "/")
        if path.is_absolute() or ".." in path.parts or "\0" in str(path):
            return None
        folder = self.book.folder.resolve()
        try:
            inside = Path(folder / path).resolve().is_relative_to(folder)
        except (OSError, RuntimeError, ValueError):
            return None
        return path if inside else None

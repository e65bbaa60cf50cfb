"""The input of the sections of a study's report: its journal, bundles and analysis."""

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
from dyno.studies.pairs import counted, metric_names
from dyno.studies.store import Entry, StudyStore


@dataclass(frozen=True)
class StudyPage:
    """A study with lookups for the sections. Its journal is untrusted input."""

    book: StudyStore
    outcome: Outcome
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, book: StudyStore, outcome: Outcome) -> StudyPage:
        """The page of ``book`` with its analysis ``outcome``."""
        return cls(book, outcome, tuple(sorted(book.entries(), key=lambda one: one.started)))

    @property
    def study(self) -> Study:
        """The study's definition."""
        return self.book.study

    @property
    def first(self) -> Variant:
        """The baseline variant."""
        return self.study.variants[0]

    @property
    def headline(self) -> list[Comparison]:
        """The headline comparisons."""
        return [one for one in self.outcome.comparisons if one.headline]

    @property
    def exploratory(self) -> list[Comparison]:
        """The exploratory comparisons."""
        return [one for one in self.outcome.comparisons if not one.headline]

    @property
    def effects(self) -> list[Effect]:
        """Effects of factors, on headline metrics first."""
        return sorted(self.outcome.effects, key=lambda one: not one.headline)

    @property
    def fits(self) -> list[Fit]:
        """Fits of growth, of headline metrics first, then by exponent."""
        return sorted(self.outcome.fits, key=lambda one: (not one.headline, -one.exponent.value))

    @cached_property
    def metric_names(self) -> list[str]:
        """Names of headline metrics with values."""
        return [name for name, headline in metric_names(self.study, self.entries) if headline]

    @cached_property
    def counted(self) -> set[tuple[int, int, str]]:
        """Place, attempt and variant of the runs that count."""
        last = counted(self.entries).values()
        return {(entry.place, entry.attempt, entry.variant) for entry in last}

    def counts(self, entry: Entry) -> bool:
        """Whether a run counts."""
        return (entry.place, entry.attempt, entry.variant) in self.counted

    @cached_property
    def state(self) -> Ending:
        """The state of the study."""
        return ending(self.book)

    @property
    def ended(self) -> str:
        """Why it ended or stopped."""
        return self.state.text

    @property
    def resume(self) -> str:
        """How to resume it; empty if it is complete."""
        state = self.state
        if not state.goes_on:
            return ""
        return (
            f"Resume: `{resume_words(self.book, state, 'FOLDER')}`, FOLDER is this page's folder."
        )

    @property
    def notice(self) -> str:
        """The notice for metrics of TPC-derived workloads."""
        return " ".join(self.notices)

    @property
    def notices(self) -> tuple[str, ...]:
        """The notices of its workloads."""
        return workloads.notices(variant.workload for variant in self.study.variants)

    def report_link(self, entry: Entry) -> str:
        """The relative link to a run's report; empty if there is none."""
        path = self._inside(entry.bundle)
        if path is None or not (self.book.folder / path / "sheet.html").is_file():
            return ""
        return f"./{quote(path.as_posix())}/sheet.html"

    @cached_property
    def bundles(self) -> dict[str, Bundle]:
        """For each variant the bundle of its last readable run that counts."""
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
        """A path confined to the study's folder."""
        path = PurePosixPath(text or "/")
        if path.is_absolute() or ".." in path.parts or "\0" in str(path):
            return None
        folder = self.book.folder.resolve()
        try:
            inside = Path(folder / path).resolve().is_relative_to(folder)
        except (OSError, RuntimeError, ValueError):
            return None
        return path if inside else None

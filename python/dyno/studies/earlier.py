"""The noise between pairs that earlier studies measured on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dyno.config.units import digits
from dyno.errors import UsageError
from dyno.statistics.paired import FEWEST_PAIRS, shift
from dyno.studies.model import Study, Variant
from dyno.studies.pairs import found_by, needed
from dyno.studies.store import Entry, StudyStore

_LEAST = FEWEST_PAIRS


@dataclass(frozen=True)
class Noise:
    """The spread of a metric.

    Attributes:
        sd_percent: Standard deviation of the ratios of pairs.
        pairs: The number of pairs.
        study: The study that measured it.
        day: The date.
    """

    metric: str
    sd_percent: float
    pairs: int
    study: str
    day: str

    def words(self, study: Study) -> str:
        """The effect that it allows a study of this size to detect."""
        questions = len(study.headline) * (len(study.variants) - 1)
        takes = needed(study.margin, self.sd_percent, questions)
        finds = digits(found_by(self.sd_percent, study.pairs, study.pairs, questions))
        text = (
            f"Noise of {self.metric} between pairs was {digits(self.sd_percent)} % in study "
            f"'{self.study}' of {self.day}: minimum detectable effect with {study.pairs} pairs "
            f"{finds} %; {study.margin:g} % needs "
            f"{'10,000 or more' if takes is None else f'{takes:,}'} pairs."
        )
        return (
            f"! {text} Too few pairs for the margin."
            if takes is None or takes > study.pairs
            else text
        )


def books(out: Path) -> list[StudyStore]:
    """The readable studies under an output folder, oldest first."""
    found: list[StudyStore] = []
    for plan in (out / "studies").glob("*/study.json"):
        try:
            found.append(StudyStore.open(plan.parent))
        except UsageError:
            continue
    return sorted(found, key=lambda book: (book.folder / "study.json").stat().st_mtime)


def alike(one: Variant, other: Variant) -> bool:
    """Whether two variants run the same work on the same target, regardless of settings."""
    return (one.workload, one.target, one.scale, one.scales) == (
        other.workload, other.target, other.scale, other.scales
    )  # fmt: skip


def known(study: Study, earlier: Iterable[StudyStore]) -> list[Noise]:
    """The known spread of each headline metric: from an A/A study, or else from the last study.

    Studies with the same options come first, because the spread depends on the run length.
    """
    first = study.variants[0]
    fit = [book for book in earlier if alike(book.study.variants[0], first)]
    fit.sort(key=lambda book: (book.study.variants[0].run == first.run, _is_aa(book.study)))
    found: dict[str, Noise] = {}
    for book in fit:
        entries = _entries(book)
        for metric in {name for one in entries for name in one.figures}:
            if metric.partition(".")[0] not in study.headline:
                continue
            spread = _spread(book.study, entries, metric)
            if spread is not None:
                day = time.strftime("%Y-%m-%d", time.localtime(entries[-1].ended))
                found[metric] = Noise(metric, *spread, book.study.name, day)
    return [found[metric] for metric in sorted(found)]


def _is_aa(study: Study) -> bool:
    """Whether all its variants are the same."""
    return (
        len({one.model_copy(update={"name": ""}).model_dump_json() for one in study.variants}) == 1
    )


def _entries(book: StudyStore) -> list[Entry]:
    try:
        return [entry for entry in book.entries() if entry.counts]
    except UsageError:
        return []


def _spread(study: Study, entries: Sequence[Entry], metric: str) -> tuple[float, int] | None:
    """The largest spread of a variant, as the studies need not share all variants."""
    value = {(one.pair, one.variant): one.figures.get(metric, 0.0) for one in entries}
    first = study.variants[0].name
    found: list[tuple[float, int]] = []
    for variant in study.variants[1:]:
        pairs = [
            (a, b)
            for pair in range(study.pairs)
            if (a := value.get((pair, first), 0.0)) > 0
            and (b := value.get((pair, variant.name), 0.0)) > 0
        ]
        if len(pairs) >= _LEAST:
            spread = shift([a for a, _ in pairs], [b for _, b in pairs]).sd_percent
            found.append((spread, len(pairs)))
    return max(found, default=None)

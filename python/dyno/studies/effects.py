"""Main effects of the factors of a study, and their two-way interactions.

A main effect compares a level with the first one, averaged over the combinations of the other
factors' levels. An interaction is the change of that ratio at another level of a second factor: a
ratio of ratios. If runs of a combination are missing, the average covers only combinations with
runs at all levels involved, and the note lists them. Effects that cannot be estimated are omitted
and noted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dyno.config.units import digits
from dyno.statistics.factorial import Cells, Tested
from dyno.statistics.paired import CONFIDENCE, percent
from dyno.studies.model import Study, Value
from dyno.studies.outcome import Effect, Term
from dyno.studies.pairs import Valid, adjusted_in_families, grouped, metric_names, sound

Cell = tuple[Value, ...]
_MOST_LISTED = 3


@dataclass(frozen=True)
class _Found:
    metric: str
    headline: bool
    factors: tuple[str, ...]
    levels: tuple[Cell, ...]
    tested: Tested
    note: str

    @property
    def key(self) -> str:
        return "\0".join((self.metric, *self.factors))


def effects(study: Study, valid: Valid) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
    """Main effects and interactions of a study with two or more factors; notes on omitted ones.

    With one factor, the comparisons with the first variant are sufficient.
    """
    if len(study.factors) < 2 or not _whole(study):
        return (), ()
    found: list[_Found] = []
    notes: list[tuple[str, str]] = []
    for metric, headline in metric_names(study, valid.values()):
        for one in _of(study, valid, metric, headline):
            if isinstance(one, _Found):
                found.append(one)
            else:
                notes.append((metric, one))
    p = adjusted_in_families({(one.headline, one.key): one.tested.p for one in found})
    made: list[Effect] = []
    for one in found:
        effect = _effect(study, one, p[one.key])
        if effect is None:
            notes.append((one.metric, f"too noisy for the effect of {' with '.join(one.factors)}"))
        else:
            made.append(effect)
    return tuple(made), grouped(notes)


def _whole(study: Study) -> bool:
    return all(set(study.factors) <= set(variant.levels) for variant in study.variants)


def _of(study: Study, valid: Valid, metric: str, headline: bool) -> Iterator[_Found | str]:
    cell = {
        variant.name: tuple(variant.levels[factor] for factor in study.factors)
        for variant in study.variants
    }
    runs = [
        (pair, cell[name], math.log(value))
        for (pair, name), entry in valid.items()
        if name in cell and (value := sound(entry, metric)) is not None
    ]
    if not runs:
        return
    cells = Cells([run[0] for run in runs], [run[1] for run in runs], [run[2] for run in runs])
    if cells.freedom < 1:
        yield "effects of factors need at least two pairs"
        return
    grid = _Grid(study, list(cell.values()), {one for _, one, _ in runs})
    if grid.missing:
        listed = ", ".join(grid.missing[:_MOST_LISTED])
        more = len(grid.missing) - _MOST_LISTED
        yield f"no value at {listed}" + (f" and {more} more combinations" if more > 0 else "")
    spread = cells.spread()
    if spread is not None:
        least, most = (digits(percent(value)) for value in spread)
        yield (
            f"the noise of combinations ranges from {least} to {most} %; effects assume equal "
            "noise, so effects of noisy combinations are less certain than shown"
        )
    for count in (1, 2):
        for which in itertools.combinations(range(len(study.factors)), count):
            factors = tuple(study.factors[place] for place in which)
            terms, note = grid.terms(which)
            known = {levels: one for levels, one in terms.items() if cells.knows(one)}
            if not known:
                yield f"the effect of {' with '.join(factors)} cannot be estimated from these runs"
                continue
            tested = cells.test(list(known.values()))
            yield _Found(metric, headline, factors, tuple(known), tested, note)


class _Grid:
    """The combinations of levels, and which of them have runs."""

    def __init__(self, study: Study, all_cells: Sequence[Cell], present: set[Cell]) -> None:
        self._factors, self._present = study.factors, present
        every = [list(dict.fromkeys(column)) for column in zip(*all_cells, strict=True)]
        self._levels = [
            [level for level in levels if any(one[place] == level for one in present)]
            for place, levels in enumerate(every)
        ]
        self._first = [levels[0] for levels in every]
        self.missing = [
            " ".join(self._named(range(len(one)), one))
            for one in dict.fromkeys(all_cells)
            if one not in present
        ]

    def terms(self, which: tuple[int, ...]) -> tuple[dict[Cell, dict[Cell, float]], str]:
        """Contrasts of each level, or pair of levels, with the first, and the averaging applied."""
        rest = [place for place in range(len(self._levels)) if place not in which]
        others = list(itertools.product(*(self._levels[place] for place in rest)))
        own = list(itertools.product(*(self._levels[place] for place in which)))

        def cell(levels: Cell, other: Cell) -> Cell:
            at = dict(zip((*which, *rest), (*levels, *other), strict=True))
            return tuple(at[place] for place in range(len(at)))

        full = [
            other for other in others if all(cell(levels, other) in self._present for levels in own)
        ]
        reference = tuple(self._levels[place][0] for place in which)
        made: dict[Cell, dict[Cell, float]] = {}
        for levels in own:
            if any(level == first for level, first in zip(levels, reference, strict=True)):
                continue
            corners = _corners(levels, reference)
            over = full or [
                other for other in others
                if all(cell(corner, other) in self._present for corner in corners)
            ]  # fmt: skip
            if over:
                made[levels] = {
                    cell(corner, other): sign / len(over)
                    for corner, sign in corners.items() for other in over
                }  # fmt: skip
        return made, self._note(which, rest, others, full)

    def _note(
        self, which: Sequence[int], rest: Sequence[int], others: list[Cell], full: list[Cell]
    ) -> str:
        said: list[str] = []
        moved = [place for place in which if self._levels[place][0] != self._first[place]]
        if moved:
            at = self._named(moved, [self._levels[place][0] for place in moved])
            said.append(f"against {' '.join(at)}, as the first level has no value")
        if full and len(full) < len(others):
            listed = [" ".join(self._named(rest, other)) for other in full[:_MOST_LISTED]]
            more = len(full) - _MOST_LISTED
            said.append(f"only at {', '.join(listed)}" + (f" and {more} more" if more > 0 else ""))
        elif rest and not full:
            said.append("each level over the combinations it shares with the first")
        return "; ".join(said)

    def _named(self, places: Sequence[int], levels: Sequence[Value]) -> list[str]:
        return [
            f"{self._factors[place]}={level}" for place, level in zip(places, levels, strict=True)
        ]


def _corners(levels: Cell, reference: Cell) -> dict[Cell, float]:
    """The signed cells of a difference, or of a difference of differences."""
    made: dict[Cell, float] = {}
    for moved in itertools.product((True, False), repeat=len(levels)):
        corner = tuple(
            level if is_moved else first
            for level, first, is_moved in zip(levels, reference, moved, strict=True)
        )
        made[corner] = 1.0 if (len(levels) - sum(moved)) % 2 == 0 else -1.0
    return made


def _effect(study: Study, found: _Found, p: float) -> Effect | None:
    values = [tuple(percent(value) for value in one) for one in found.tested.values]
    if not all(math.isfinite(value) for one in values for value in one):
        return None
    inside = all(-study.margin <= low and high <= study.margin for _, low, high in values)
    return Effect(
        metric=found.metric,
        headline=found.headline,
        factors=found.factors,
        p=p,
        share_percent=100 * found.tested.share,
        verdict="none" if inside else "certain" if p < 1 - CONFIDENCE else "inconclusive",
        terms=tuple(
            Term(levels=levels, percent=value, low=low, high=high)
            for levels, (value, low, high) in zip(found.levels, values, strict=True)
        ),
        note=found.note,
    )

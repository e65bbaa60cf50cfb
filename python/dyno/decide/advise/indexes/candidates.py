"""Indexes that the predicates of statements ask for: equality first, then one range."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from dyno.contracts.advice import IndexFacts
from dyno.contracts.hypothetical import Table, Wish
from dyno.decide.advise.predicates import ORDERED, VALUES, Place

MOST = 40
"""Candidates that are planned."""
WIDEST = 4
"""Columns of an index; more make it nearly as large as its table."""
FEWEST_ROWS = 1000
"""Rows of a table that is worth an index: fewer fit into a few pages."""


def candidates(
    statements: Iterable[tuple[float, Sequence[Place[Table]]]], existing: Sequence[IndexFacts]
) -> list[Wish]:
    """Candidates, those that ask for the most reads first.

    Args:
        statements: The reads of each statement and what it selects by.
        existing: Indexes that need no second one.
    """
    asked = list(statements)
    uses = _uses(asked)
    weights: defaultdict[Wish, float] = defaultdict(float)
    for reads, places in asked:
        wishes = {wish for place in places for wish in _of(place, uses)}
        for wish in wishes:
            weights[wish] += reads
    fresh = [wish for wish in weights if not covered(wish, existing)]
    return sorted(fresh, key=lambda one: (-weights[one], one.table, one.columns))[:MOST]


def _uses(asked: Iterable[tuple[float, Sequence[Place[Table]]]]) -> Mapping[tuple[str, str], float]:
    """The reads of statements that compare a column for equality, by table and column."""
    found: defaultdict[tuple[str, str], float] = defaultdict(float)
    for reads, places in asked:
        for place in places:
            for column in place.columns(*VALUES, "join"):
                found[(place.table.name, column)] += reads
    return found


def _of(place: Place[Table], uses: Mapping[tuple[str, str], float]) -> set[Wish]:
    if place.table.rows is not None and place.table.rows < FEWEST_ROWS:
        return set()

    def ordered(columns: Iterable[str]) -> tuple[str, ...]:
        # What most statements compare comes first, so that one index serves them all.
        return tuple(sorted(columns, key=lambda one: (-uses.get((place.table.name, one), 0), one)))

    values, joined = place.columns(*VALUES), place.joined.values()
    starts = [ordered(values), *map(ordered, joined)]
    starts += [ordered({*values, *own}) for own in joined]
    lists = {(*start, column) for start in starts for column in place.columns(*ORDERED) - {*start}}
    lists |= {start for start in starts if start}
    lists |= {(column,) for own in joined for column in own}
    return {Wish(place.table.name, one[:WIDEST]) for one in lists}


def covered(wish: Wish, existing: Iterable[IndexFacts]) -> bool:
    """Whether an index that exists begins with the same columns, whatever their order."""
    count = len(wish.columns)
    return any(
        index.table == wish.table
        and not any(" " in column for column in index.columns)  # a condition or another method
        and {column.strip('"`') for column in index.columns[:count]} == {*wish.columns}
        for index in existing
    )

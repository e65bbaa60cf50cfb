"""Which column of a table to partition by: the one whose partitions the statements can skip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dyno.contracts.advice import ColumnFacts
from dyno.contracts.partitioning import Partitioning
from dyno.decide.advise.partition.bounds import Bounds, bounds
from dyno.decide.advise.partition.predicates import FORMS, Form
from dyno.decide.advise.partition.spread import Spread, even, of_column
from dyno.decide.advise.partition.tables import Known
from dyno.decide.advise.partition.work import Asked

Method = Literal["range", "hash"]

COUNTS = (4, 8)
"""Numbers of partitions that are proposed, as the documents measured them."""
WEIGHTS: dict[Form, float] = {
    "equality": 1.0, "range": 1.0, "half": 0.5, "join": 0.1, "hidden": 0.0,
}  # fmt: skip
"""What a condition counts for a column, of the reads of its statement; Dyno's. A join skips
partitions only while it runs, and only in some plans."""
SKIPS: dict[Method, tuple[Form, ...]] = {
    "range": ("equality", "range", "half"),
    "hash": ("equality",),
}
"""Conditions with which a statement can skip partitions, by method."""


@dataclass(frozen=True)
class Choice:
    """A column to partition by.

    Attributes:
        score: 0 to 1, by :data:`WEIGHTS`.
        forms: Share of the statements' weight by form of the condition, 0 to 1.
        cuts: Bounds by number of partitions, for ranges; none for hash.
        spread: Where the bounds come from; a clause. Empty if they are missing.
        counts: Numbers of partitions that the column has values for.
    """

    column: ColumnFacts
    method: Method
    score: float
    forms: Mapping[Form, float]
    cuts: Mapping[int, Bounds]
    spread: str
    counts: tuple[int, ...]

    @property
    def restricted(self) -> float:
        """Share of the weight of statements that can skip partitions, 0 to 1."""
        return sum(self.forms.get(form, 0.0) for form in SKIPS[self.method])


def shares(table: str, column: str, statements: Sequence[Asked]) -> dict[Form, float]:
    """Share of the weight of the statements that read ``table``, by their form of condition."""
    own = [one for one in statements if table in one.uses]
    whole = sum(one.weight for one in own)
    found: dict[Form, float] = {}
    for one in own:
        form = one.uses[table].form(column)
        if form is not None and whole:
            found[form] = found.get(form, 0.0) + one.weight / whole
    return found


def choices(table: Known, statements: Sequence[Asked], engine: Partitioning) -> list[Choice]:
    """The columns that could be partitioned by and that conditions are on, the best first."""
    found: list[Choice] = []
    for name, column in table.columns.items():
        forms = shares(table.key, name, statements)
        if any(forms.get(form, 0.0) for form in FORMS if form != "hidden"):
            choice = _choice(table, column, forms, engine)
            if choice is not None:
                found.append(choice)
    primary = table.facts.keys.get(table.facts.primary_key, ())
    place = {name.lower(): number for number, name in enumerate(primary)}
    return sorted(
        found,
        key=lambda one: (-round(one.score, 6), place.get(one.column.name.lower(), len(place))),
    )


def _choice(
    table: Known, column: ColumnFacts, forms: Mapping[Form, float], engine: Partitioning
) -> Choice | None:
    # The values of dates lie beside each other in time, also where only one is asked for.
    ranged = bool(forms.get("range") or forms.get("half")) or column.kind in ("date", "timestamp")
    method: Method = "range" if ranged and column.kind in engine.ranges else "hash"
    spread = _spread(table, column)
    distinct = _distinct(table, column)
    if method == "hash" and (column.kind not in engine.hashes or distinct is None):
        return None
    counts = tuple(count for count in COUNTS if distinct is None or distinct >= count)
    if not counts:
        return None
    cuts: dict[int, Bounds] = {}
    if spread is not None and column.kind in engine.ranges:
        made = {count: bounds(column.kind, spread, count) for count in counts}
        cuts = {count: found for count, found in made.items() if found is not None}
    useful = {form: WEIGHTS[form] for form in FORMS}
    if method == "hash":
        useful = {**useful, "range": 0.0, "half": 0.0}
    score = sum(useful[form] * share for form, share in forms.items())
    return Choice(column, method, score, forms, cuts, _source(spread, cuts), counts)


def _spread(table: Known, column: ColumnFacts) -> Spread | None:
    found = of_column(column)
    if found is None and column.name in table.ranges:
        return even(*table.ranges[column.name], column.kind)
    return found


def _source(spread: Spread | None, cuts: Mapping[int, Bounds]) -> str:
    if spread is None or not cuts:
        return ""
    return spread.source or "the range that the workload declares, taken as even"


def _distinct(table: Known, column: ColumnFacts) -> float | None:
    if column.distinct is not None:
        return column.distinct
    ends = table.ranges.get(column.name)
    if ends is not None and isinstance(ends[0], int) and isinstance(ends[1], int):
        return ends[1] - ends[0] + 1
    return None

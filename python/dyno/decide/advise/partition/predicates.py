"""Whether partitions can use the predicates of a statement."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from dyno.decide.advise.partition.tables import Known
from dyno.decide.advise.predicates import Find, Kind, Place, places

Form = Literal["equality", "range", "half", "join", "hidden"]
FORMS: tuple[Form, ...] = ("equality", "range", "half", "join", "hidden")
"""The most selective first. ``equality``: with a value or a list of them. ``range``: between two
values. ``half``: above or below one. ``join``: with a column of another table. ``hidden``: within a
function, an OR, or with a column of the same table."""
_FORMS: dict[Kind, Form] = {
    "equality": "equality", "in": "equality", "range": "range", "low": "half", "high": "half",
    "join": "join", "theta": "join", "prefix": "hidden", "hidden": "hidden",
}  # fmt: skip


@dataclass(frozen=True)
class Use:
    """The places of a table in a statement."""

    places: tuple[Place[Known], ...]

    def form(self, column: str) -> Form | None:
        """The form that holds at each place of the table; None if one has no condition on it."""
        known: list[Form] = []
        for place in self.places:
            form = _form(place, column)
            if form is None:
                return None
            known.append(form)
        return max(known, key=FORMS.index)

    def mentions(self, column: str) -> bool:
        """Whether any condition is on it."""
        return any(one.column == column for place in self.places for one in place.predicates)


def _form(place: Place[Known], column: str) -> Form | None:
    """The most selective form at a place; above and below a value is between two."""
    kinds: set[Kind] = {one.kind for one in place.predicates if one.column == column}
    forms: list[Form] = [_FORMS[one] for one in kinds]
    if {"low", "high"} <= kinds:
        forms.append("range")
    return min(forms, key=FORMS.index) if forms else None


def uses(tree: exp.Expr, find: Find[Known]) -> dict[str, Use]:
    """The tables that a statement reads, by key, with its conditions on their columns.

    Raises:
        UnreadableError: If the names of its queries cannot be resolved.
    """
    found: defaultdict[str, list[Place[Known]]] = defaultdict(list)
    for place in places(tree, find):
        found[place.table.key].append(place)
    return {key: Use(tuple(own)) for key, own in found.items()}

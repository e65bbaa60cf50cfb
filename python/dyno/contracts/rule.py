"""Comparison of answers, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

Rows = Sequence[Sequence[Any]]

Rule = Literal["exact", "sum", "average", "close"]
"""Kind of a result column: a key, count or text; a sum of money; an average or ratio; another
number with a fraction.

``Tolerance`` has the allowed deviation of each."""


def inferred(columns: int, rows: Rows) -> tuple[Rule, ...]:
    """Rules for the columns of an answer: ``close`` if a value has a fraction, else ``exact``."""
    return tuple(
        "close" if any(_has_fraction(row[place]) for row in rows) else "exact"
        for place in range(columns)
    )


def _has_fraction(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value != value.to_integral_value()
    return isinstance(value, float) and not value.is_integer()


@dataclass(frozen=True)
class Difference:
    """One difference between two answers.

    Attributes:
        row: Number of the row from 1, in the first answer (in the second if only that has it);
            None if the number of rows differs.
        column: Number of the column from 1; None if it concerns the row as a whole.
        left: Value in the first answer; None if absent.
        right: Value in the second answer.
        ours: The whole row of the first answer, in canonical text.
        theirs: The row of the second answer that it was compared with.
    """

    row: int | None
    column: int | None
    left: str | None
    right: str | None
    ours: tuple[str, ...] | None = field(default=None, compare=False)
    theirs: tuple[str, ...] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        if self.row is None:
            return f"{self.left} rows against {self.right}"
        if self.column is not None:
            return f"row {self.row}, column {self.column}: {self.left!r} against {self.right!r}"
        if self.right is None:
            return f"row {self.row}: only the first has {self.left}"
        return f"row {self.row}: only the second has {self.right}"

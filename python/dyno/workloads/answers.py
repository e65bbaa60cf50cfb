"""Compares two answers to a query and lists their differences. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any, Literal

from dyno.contracts.rule import Difference, Rule
from dyno.workloads.canonical import canonical, digest, precise

__all__ = [
    "BETWEEN_ENGINES",
    "EXPECTED",
    "SPECIFICATION",
    "Difference",
    "Tolerance",
    "canonical",
    "compare",
    "compare_engines",
    "compare_expected",
    "digest",
    "precise",
]

MOST_DIFFERENCES = 10
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
_CENT = Decimal("0.01")
_CLOSE = Decimal("1e-9"), Decimal("1e-6")
"""Absolute and relative: more than rounding, less than a wrong row."""

Row = tuple[str, ...]
Numbered = tuple[int, Row]


@dataclass(frozen=True)
class Tolerance:
    """How much numbers may differ; ``exact`` columns may not.

    Attributes:
        sum_absolute: For sums, in the column's unit.
        sum_relative: For sums, as a share of the expected value; the larger of the two applies.
        average_relative: For averages and ratios, as a share of the expected value.
        average_absolute: For averages and ratios; the larger of the two applies.
        cents: When averages and ratios are rounded to two decimals before that: ``always``,
            ``never``, or ``given`` where the expected value has no more.
    """

    sum_absolute: Decimal
    sum_relative: Decimal
    average_relative: Decimal
    average_absolute: Decimal
    cents: Literal["always", "never", "given"]

    def allows(self, rule: Rule, got: str, expected: str) -> bool:
        """Whether ``got`` matches ``expected``, both from ``precise``."""
        if got == expected:
            return True
        if rule == "exact":
            return False
        absolute, relative = self._limits(rule)
        try:
            value, reference = Decimal(got), Decimal(expected)
        except InvalidOperation:  # text or NULL
            return False
        if not (value.is_finite() and reference.is_finite()):
            return False
        if rule == "average" and self._rounds(reference):
            absolute, relative = SPECIFICATION.average_absolute, SPECIFICATION.average_relative
            value, reference = _to_cents(value), _to_cents(reference)
        return abs(value - reference) <= max(absolute, abs(reference) * relative)

    def _limits(self, rule: Rule) -> tuple[Decimal, Decimal]:
        if rule == "sum":
            return self.sum_absolute, self.sum_relative
        if rule == "close":
            return _CLOSE
        return self.average_absolute, self.average_relative

    def _rounds(self, reference: Decimal) -> bool:
        if self.cents == "given":
            return reference == _to_cents(reference)
        return self.cents == "always"

    def words(self, rule: Rule) -> str:
        """The rule for a column, as text for the user."""
        if rule == "exact":
            return "equal"
        absolute, relative = self._limits(rule)
        share = (
            f"{relative * 100:.0f} %"
            if relative >= _CENT
            else f"1 in {1 / relative:,.0f}"
            if relative
            else ""
        )
        return f"{rule} within " + " or ".join(
            filter(None, [f"{absolute:f}" if absolute else "", share])
        )


def _to_cents(value: Decimal) -> Decimal:
    return value.quantize(_CENT, rounding=ROUND_HALF_UP, context=Context(prec=400))


SPECIFICATION = Tolerance(Decimal(100), Decimal(0), Decimal("0.01"), Decimal(0), "always")
"""For published answers (TPC-H specification, 2.1.3.5): sums within 100; averages and ratios
``0.99 v <= round(r, 2) <= 1.01 v``."""

_SMALL = Decimal("1e-9")

BETWEEN_ENGINES = Tolerance(_CENT, _SMALL, Decimal("1e-4"), _SMALL, "never")
"""For two engines with the same data: floating-point error plus one rounding. Averages and ratios
are not rounded; some engines return six decimals of them."""

EXPECTED = replace(BETWEEN_ENGINES, cents="given")
"""For the answers that Dyno ships. Those with only two decimals are compared like published
answers."""


def compare_engines(
    left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]], rules: Sequence[Rule]
) -> list[Difference]:
    """Lists differences between two engines' answers from the same data; empty if they agree.

    They agree if rounding explains all differences.
    """
    return compare(left, right, rules, BETWEEN_ENGINES)


def compare_expected(
    rows: Sequence[Sequence[Any]], expected: Sequence[Sequence[Any]], rules: Sequence[Rule]
) -> list[Difference]:
    """Lists differences between an engine's answer and the expected one; empty if it is correct.

    What is expected may come from a file without types: its texts are numbers where the engine has
    numbers.
    """
    texts = [all(isinstance(row[at], str | None) for row in rows) for at in range(len(rules))]
    typed = [
        [value if text else _number(value) for value, text in zip(row, texts, strict=True)]
        for row in expected
    ]
    return compare(rows, typed, rules, EXPECTED)


def _number(value: Any) -> Any:
    """A number in place of its text, unless that has leading zeros; anything else as it is."""
    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value


def compare(
    left: Iterable[Sequence[Any]],
    right: Iterable[Sequence[Any]],
    rules: Sequence[Rule],
    tolerance: Tolerance = SPECIFICATION,
) -> list[Difference]:
    """Returns the first ten differences of ``left`` from the expected ``right``, in any row order.

    Rows are paired by their exact columns, and within equal ones by size of the others. Rows left
    over are paired as they come, so that a single wrong value is shown as such and not as a row
    too many and one too few.

    Raises:
        ValueError: If a row has more or fewer columns than there are rules.
    """
    ours, theirs = precise(left, rules), precise(right, rules)
    found: list[Difference] = []
    if len(ours) != len(theirs):
        found.append(Difference(None, None, str(len(ours)), str(len(theirs))))
    pairs, ours_left, theirs_left = _paired(ours, theirs, rules)
    shared = min(len(ours_left), len(theirs_left))
    pairs += zip(ours_left[:shared], theirs_left[:shared], strict=True)
    for (number, mine), (_, other) in sorted(pairs):
        found += _unequal(number, mine, other, rules, tolerance)
        if len(found) >= MOST_DIFFERENCES:
            return found[:MOST_DIFFERENCES]
    found += [Difference(n, None, " | ".join(row), None, row) for n, row in ours_left[shared:]]
    found += [
        Difference(n, None, None, " | ".join(row), None, row) for n, row in theirs_left[shared:]
    ]
    return found[:MOST_DIFFERENCES]


def _paired(
    ours: list[Row], theirs: list[Row], rules: Sequence[Rule]
) -> tuple[list[tuple[Numbered, Numbered]], list[Numbered], list[Numbered]]:
    """Pairs of rows with equal exact columns, and the unpaired rows of each side."""
    mine, others = _by_key(ours, rules), _by_key(theirs, rules)
    pairs: list[tuple[Numbered, Numbered]] = []
    ours_left: list[Numbered] = []
    theirs_left: list[Numbered] = []
    for key in {**mine, **others}:
        left, right = mine.get(key, []), others.get(key, [])
        shared = min(len(left), len(right))
        pairs += zip(left[:shared], right[:shared], strict=True)
        ours_left += left[shared:]
        theirs_left += right[shared:]
    return pairs, sorted(ours_left), sorted(theirs_left)


def _by_key(rows: list[Row], rules: Sequence[Rule]) -> dict[Row, list[Numbered]]:
    """Numbered rows by their exact columns; rows of one key are sorted by the other columns."""
    groups: defaultdict[Row, list[Numbered]] = defaultdict(list)
    for number, row in enumerate(rows, start=1):
        key = tuple(text for text, rule in zip(row, rules, strict=True) if rule == "exact")
        groups[key].append((number, row))
    for group in groups.values():
        group.sort(key=lambda item: [_size(text) for text in item[1]])
    return groups


def _size(text: str) -> tuple[Decimal, str]:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return Decimal(0), text
    return (number, "") if number.is_finite() else (Decimal(0), text)


def _unequal(
    number: int, mine: Row, other: Row, rules: Sequence[Rule], tolerance: Tolerance
) -> Iterator[Difference]:
    for column, rule in enumerate(rules):
        if not tolerance.allows(rule, mine[column], other[column]):
            yield Difference(number, column + 1, mine[column], other[column], mine, other)

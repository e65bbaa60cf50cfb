"""Differences between answers from checks.json, as terminal lines and report rows.

Bundles are untrusted input: malformed diffs are skipped.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from dyno.bundle.model import Check
from dyno.safety.text import plain

COLUMNS = 80
MOST_ROWS = 5


@dataclass(frozen=True)
class Mismatch:
    """A value or row in which two answers differ.

    Attributes:
        where: The row's number and key.
        column: Name of the column; empty for a whole row.
        first, second: The value on each side; ``–`` for none.
        rule: The comparison rule that failed.
    """

    where: str
    column: str
    first: str
    second: str
    rule: str


def sides(check: Check) -> tuple[str, str]:
    """The names of the two sides of a diff."""
    names = _list(_diff(check).get("sides"))
    return (str(names[0]), str(names[1])) if len(names) == 2 else ("first", "second")


def places(check: Check) -> list[Mismatch]:
    """The differences of a failed check; empty if it has no diff."""
    diff = _diff(check)
    found: list[Mismatch] = []
    counts = _list(diff.get("counts"))
    if len(counts) == 2:
        found.append(Mismatch("row count", "", str(counts[0]), str(counts[1]), "equal"))
    for row in _list(diff.get("rows")):
        if isinstance(row, dict):
            found += _places(cast("dict[str, Any]", row), sides(check))
    return found


def lines(checks: Iterable[Check]) -> list[str]:
    """All failed checks with a diff, five rows each, at most eighty columns wide."""
    found: list[str] = []
    for check in checks:
        if check.passed is False and (here := places(check)):
            found += _block(check, here)
    return found


def _block(check: Check, here: list[Mismatch]) -> Iterator[str]:
    first, second = sides(check)
    yield from _wrap(f"{check.name} on {check.target}: {first} | {second}", "")
    shown: list[str] = []
    for place in here:
        if place.where not in shown:
            if len(shown) == MOST_ROWS:
                yield "  … more in checks.json"
                return
            shown.append(place.where)
            yield from _wrap(place.where, "  ")
        if place.column:
            yield from _wrap(
                f"{place.column}: {place.first} | {place.second}  ({place.rule})", "    "
            )
        else:
            yield from _wrap(f"{place.first} | {place.second}  ({place.rule})", "    ")


def _wrap(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        plain(text), COLUMNS, initial_indent=indent, subsequent_indent=f"{indent}  "
    )


def _places(row: dict[str, Any], names: tuple[str, str]) -> Iterator[Mismatch]:
    number = row.get("row")
    if "only" in row:
        texts = ", ".join(str(text) for text in _list(row.get("texts")))
        mine = row["only"] == names[0]
        where = f"row {number} of {row['only']}"
        yield Mismatch(where, "", *((texts, "–") if mine else ("–", texts)), "in both")
        return
    key = row.get("key")
    words = [f"{name}={text}" for name, text in key.items()] if isinstance(key, dict) else []
    where = ", ".join([f"row {number}", *words])
    for value in _list(row.get("values")):
        texts = _list(value.get("texts")) if isinstance(value, dict) else []
        if len(texts) == 2:
            column, rule = str(value.get("column")), str(value.get("rule"))
            yield Mismatch(where, column, str(texts[0]), str(texts[1]), rule)


def _diff(check: Check) -> dict[str, Any]:
    found = check.detail.get("diff")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []

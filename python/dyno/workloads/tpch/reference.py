"""Published answers: scale factor 1, validation parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from dyno.contracts.rule import Rows, Rule
from dyno.contracts.workload import Query
from dyno.workloads.answers import Difference, compare

# Not a number: text with a leading zero, such as a code.
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")

# In the crate ``tpchgen`` this answer lacks the last two digits of each part key. The rest of the
# key and all values are compared with it; the two digits only between engines.
_CUT_KEYS = "q11"


def parse(text: str, rules: Sequence[Rule]) -> list[tuple[Any, ...]]:
    """Parses an answer: a header line, then rows with padded fields separated by ``|``.

    Returns numbers as Decimal, all else as text without its trailing padding.

    Raises:
        ValueError: If there is no header, or a row has the wrong number of fields.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("an answer needs at least a header line")
    return [_fields(line, len(rules)) for line in lines[1:]]


def check_reference(query: Query, rows: Rows, text: str) -> list[Difference]:
    """Compares ``rows`` with the published answer, within the specification's tolerances.

    Args:
        query: The query, run with its validation parameters at scale factor 1.
        rows: The engine's answer.
        text: The published answer, for ``parse``.
    """
    expected = parse(text, query.rules)
    found = compare(rows, expected, query.rules)
    if found and query.name == _CUT_KEYS:
        return compare([(str(row[0])[:-2], *row[1:]) for row in rows], expected, query.rules)
    return found


def reference(query: Query, scale: float, rows: Rows) -> list[Difference] | None:
    """Compares an answer with the published one, which exists only at scale factor 1."""
    return check_reference(query, rows, reference_text(query)) if scale == 1 else None


def reference_text(query: Query) -> str:
    """The published answer to a query, from the compiled half."""
    from dyno import _core

    return _core.tpch_answer(int(query.name.removeprefix("q")))


def _fields(line: str, count: int) -> tuple[Any, ...]:
    fields = line.split("|")
    if len(fields) != count:
        raise ValueError(f"a reference row has {len(fields)} fields, not {count}: {line[:80]}")
    return tuple(_value(field) for field in fields)


def _value(field: str) -> Decimal | str:
    number = field.strip()
    return Decimal(number) if _NUMBER.fullmatch(number) else field.rstrip()

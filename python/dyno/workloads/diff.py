"""Formats the differences between two answers for checks.json. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.contracts.rule import Difference
from dyno.contracts.workload import Query
from dyno.workloads.answers import Tolerance

MOST_KEYS = 4


def diff(
    query: Query,
    differences: Sequence[Difference],
    sides: tuple[str, str],
    tolerance: Tolerance,
) -> dict[str, Any]:
    """Formats the rows that differ, each with its key.

    Args:
        query: The query of the answers.
        differences: The result of ``compare``.
        sides: Names of the two answers, such as ``got`` and ``expected``.
        tolerance: The tolerance of the comparison.

    Returns:
        ``sides``; ``columns`` of the answer; ``counts`` of rows if they differ; and ``rows``: each
        with its number ``row``, either a ``key`` and its differing ``values`` (``column``, the two
        ``texts``, the ``rule`` that failed) or the one side (``only``) that has it and its
        ``texts``.
    """
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    counts: list[str] | None = None
    for item in differences:
        if item.row is None:
            counts = [item.left or "0", item.right or "0"]
        elif item.column is None:
            side = sides[0] if item.right is None else sides[1]
            texts = list(item.ours or item.theirs or ())
            rows[item.row, side] = {"row": item.row, "only": side, "texts": texts}
        else:
            entry = rows.setdefault(
                (item.row, ""), {"row": item.row, "key": _key(query, item), "values": []}
            )
            entry["values"].append(
                {
                    "column": query.columns[item.column - 1],
                    "texts": [item.left, item.right],
                    "rule": tolerance.words(query.rules[item.column - 1]),
                }
            )
    return {
        "sides": list(sides),
        "columns": list(query.columns),
        "counts": counts,
        "rows": list(rows.values()),
    }


def _key(query: Query, item: Difference) -> dict[str, str]:
    """The exact columns that both rows share, which identify the row."""
    if item.ours is None or item.theirs is None:
        return {}
    shared = [
        (name, mine)
        for name, rule, mine, other in zip(
            query.columns, query.rules, item.ours, item.theirs, strict=True
        )
        if rule == "exact" and mine == other
    ]
    return dict(shared[:MOST_KEYS])

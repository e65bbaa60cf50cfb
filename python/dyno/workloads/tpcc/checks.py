"""Checks of an order entry database: row counts after a load, consistency after a load or run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Literal

from dyno.bundle.model import Check
from dyno.contracts.target import Connection, Loaded
from dyno.workloads.rows import check_rows, count, expected_rows
from dyno.workloads.tpcc.conditions import CONDITIONS, DELIVERED_ORDERS, Condition

ROWS_SHOWN = 5

FIXED = ("warehouse", "district", "customer", "item", "stock")
"""Tables whose row counts no transaction changes."""


def check(
    target: str,
    connect: Callable[[], Connection],
    loaded: Loaded,
    after: Literal["load", "run"],
) -> list[Check]:
    """Checks row counts and conditions 1–12; after a run, only fixed tables and all except 11.

    No transaction may be in progress. One statement reads both sides of a condition, but each of
    the twelve statements has its own snapshot.
    """
    with contextlib.closing(connect()) as connection:
        expected = expected_rows("tpcc", loaded)
        if after == "run":
            expected = {table: expected[table] for table in FIXED}
        rows = check_rows(target, connection, expected)
        return rows + check_conditions(target, connection, after)


def check_conditions(
    target: str, connection: Connection, after: Literal["load", "run"]
) -> list[Check]:
    """Checks conditions 1–12 in one session; skips 11 after a run."""
    return [
        _skipped(target, condition)
        if condition is DELIVERED_ORDERS and after == "run"
        else _check(target, connection, condition)
        for condition in CONDITIONS
    ]


def _check(target: str, connection: Connection, condition: Condition) -> Check:
    # Count first: with a LIMIT, planners assume that violations are found early.
    violations = count(connection, f"({condition.sql}) AS violations")
    detail: dict[str, Any] = {"title": condition.title, "violations": violations}
    message = condition.title
    if violations:
        shown = connection.execute(
            f"SELECT * FROM ({condition.sql}) AS violations LIMIT {ROWS_SHOWN}"  # noqa: S608
        )
        detail["rows"] = [
            dict(zip(shown.columns, map(_plain, row), strict=True)) for row in shown.rows
        ]
        places = "1 place" if violations == 1 else f"{violations:,} places"
        message = f"violated in {places}: {condition.title}; first: {_words(detail['rows'][0])}"
    return Check(
        name=condition.name, target=target, passed=not violations, message=message, detail=detail
    )


def _skipped(target: str, condition: Condition) -> Check:
    return Check(
        name=condition.name,
        target=target,
        passed=None,
        message="skipped: it holds only right after a load; deliveries and new orders change it",
        detail={"title": condition.title},
    )


def _plain(value: Any) -> int | str | None:
    """A JSON value with every digit of a decimal."""
    return value if value is None or isinstance(value, int) else str(value)


def _words(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {'null' if value is None else value}" for name, value in row.items())

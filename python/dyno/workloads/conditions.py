"""Consistency conditions of a workload's data: SQL that returns violations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from dyno.bundle.model import Check
from dyno.contracts.target import Connection, neutrally
from dyno.workloads.rows import count

ROWS_SHOWN = 5


@dataclass(frozen=True)
class Condition:
    """A consistency condition.

    Attributes:
        number: As in the specification.
        title: The condition in one line.
        sql: A query that returns one row per violation.
        load_only: Why transactions may violate it; None if they may not.
    """

    number: int
    title: str
    sql: str
    load_only: str | None = None

    @property
    def name(self) -> str:
        """Its name in the record of checks."""
        return f"condition {self.number}"


def check_all(
    target: str,
    connection: Connection,
    conditions: Iterable[Condition],
    after: Literal["load", "run"],
) -> list[Check]:
    """Checks conditions in one session; after a run, skips those that transactions may violate."""
    return [
        _skipped(target, condition)
        if condition.load_only is not None and after == "run"
        else _check(target, connection, condition)
        for condition in conditions
    ]


def _check(target: str, connection: Connection, condition: Condition) -> Check:
    # Count first: with a LIMIT, planners assume that violations are found early.
    violations = count(connection, f"({condition.sql}) AS violations")
    detail: dict[str, Any] = {"title": condition.title, "violations": violations}
    message = condition.title
    if violations:
        shown = neutrally(
            connection,
            f"SELECT * FROM ({condition.sql}) AS violations LIMIT {ROWS_SHOWN}",  # noqa: S608
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
        message=f"skipped: {condition.load_only}",
        detail={"title": condition.title},
    )


def _plain(value: Any) -> int | str | None:
    """A JSON value with every digit of a decimal."""
    return value if value is None or isinstance(value, int) else str(value)


def _words(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {'null' if value is None else value}" for name, value in row.items())

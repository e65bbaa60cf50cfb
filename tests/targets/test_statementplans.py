"""Which statements get plans, and what ends the planning."""

from __future__ import annotations

from dyno.contracts.inspection import MOST_PLANS, StatementUse
from dyno.errors import DatabaseError, error_of_kind
from dyno.targets.statementplans import planned


def use(number: int, text: str = "SELECT 1") -> StatementUse:
    return StatementUse(str(number), text, calls=1, total_ms=float(number))


def test_those_with_most_time_have_plans_and_the_order_stays() -> None:
    uses = [use(number) for number in range(2 * MOST_PLANS)] + [use(999, "COMMIT")]
    found = planned(uses, lambda one: one.text != "COMMIT", lambda one: f"plan {one.statement}")
    assert [one.statement for one in found.statements] == [one.statement for one in uses]
    expected = {str(number) for number in range(MOST_PLANS, 2 * MOST_PLANS)}
    plans = {one.statement: one.plan for one in found.statements if one.plan is not None}
    assert plans == {name: f"plan {name}" for name in expected}
    assert not found.notes


def test_an_error_of_one_statement_is_noted_and_a_timeout_ends_the_planning() -> None:
    asked: list[str] = []

    def explained(one: StatementUse) -> str:
        asked.append(one.statement)
        if one.statement in {"7", "6"}:
            raise DatabaseError("it names a table that is gone")
        if one.statement == "4":
            raise error_of_kind("lock_timeout", "a table is locked")
        return "a plan"

    found = planned([use(number) for number in range(8)], lambda _: True, explained)
    assert asked == ["7", "6", "5", "4"]
    assert [one.statement for one in found.statements if one.plan] == ["5"]
    assert [note.rpartition(": ")[2] for note in found.notes] == [
        "it names a table that is gone",
        "a table is locked",
    ]

"""Plans of the most time-consuming statements, made for their texts after a period."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dyno.contracts.inspection import MOST_PLANS, StatementUse
from dyno.errors import DynoError

_NO_PLAN = "some of the top statements have no plan: "
_MOST_NOTES = 3

OF_ONE = ("database", "denied")
"""Kinds of errors that concern one statement."""


class Planned(NamedTuple):
    """The statements, some of them with plans, and why others have none."""

    statements: Sequence[StatementUse]
    notes: Sequence[str]


def planned(
    uses: Sequence[StatementUse],
    plannable: Callable[[StatementUse], bool],
    explained: Callable[[StatementUse], str],
) -> Planned:
    """Adds the plans of those with most time.

    Args:
        uses: The statements.
        plannable: Whether a statement can have a plan; others are passed over.
        explained: Returns the plan of a statement. An error that does not concern it alone, such
            as a timeout, ends the planning, so that a busy server is not asked for long.
    """
    chosen = sorted(filter(plannable, uses), key=lambda use: -use.total_ms)[:MOST_PLANS]
    plans: dict[str, str] = {}
    notes: dict[str, None] = {}
    for use in chosen:
        try:
            plans[use.statement] = explained(use)
        except DynoError as error:
            notes[f"{_NO_PLAN}{error}"] = None
            if error.kind not in OF_ONE:
                break
    found = [replace(use, plan=plans.get(use.statement)) for use in uses]
    return Planned(found, list(notes)[:_MOST_NOTES])

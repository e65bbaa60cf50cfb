"""Checks of a brokerage database: row counts after a load, consistency after a load or run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Literal

from dyno.bundle.model import Check
from dyno.contracts.target import Connection, Loaded
from dyno.workloads import conditions
from dyno.workloads.brokerage.conditions import CONDITIONS
from dyno.workloads.rows import check_rows, expected_rows

CHANGED = frozenset({
    "trade", "trade_history", "trade_request", "settlement", "cash_transaction", "holding",
    "holding_history", "holding_summary",
})  # fmt: skip
"""Tables whose row counts transactions change."""


def check(
    target: str,
    connect: Callable[[], Connection],
    loaded: Loaded,
    after: Literal["load", "run"],
) -> list[Check]:
    """Checks row counts and conditions; after a run, only those that transactions keep.

    No transaction may be in progress. One statement reads both sides of a condition, but each
    statement has its own snapshot.
    """
    with contextlib.closing(connect()) as connection:
        expected = expected_rows("brokerage", loaded)
        if after == "run":
            expected = {name: rows for name, rows in expected.items() if name not in CHANGED}
        rows = check_rows(target, connection, expected)
        return rows + conditions.check_all(target, connection, CONDITIONS, after)

"""Checks of an order entry database: row counts after a load, consistency after a load or run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Literal

from dyno.bundle.model import Check
from dyno.contracts.target import Connection, Loaded
from dyno.workloads import conditions
from dyno.workloads.rows import check_rows, expected_rows
from dyno.workloads.tpcc.conditions import CONDITIONS

FIXED = ("warehouse", "district", "customer", "item", "stock")
"""Tables whose row counts no transaction changes."""


def check(
    target: str,
    connect: Callable[[], Connection],
    loaded: Loaded,
    after: Literal["load", "run"],
) -> list[Check]:
    """Checks row counts and conditions 1–13; after a run, only fixed tables and all except 11.

    No transaction may be in progress. One statement reads both sides of a condition, but each of
    the thirteen statements has its own snapshot.
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
    """Checks conditions 1–13 in one session; skips 11 after a run."""
    return conditions.check_all(target, connection, CONDITIONS, after)

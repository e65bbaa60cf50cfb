"""Checks of the tables that this workload adds, and of the references to them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Literal

from dyno.bundle.model import Check
from dyno.contracts.target import Connection, Loaded
from dyno.workloads.content import check_content
from dyno.workloads.rows import check_rows, count, expected_rows

# Title, table, its expression, the other table and its key. Nothing is NULL in them.
_LINKS = (
    ("every nation has a region", "nation", "n_regionkey", "region", "r_regionkey"),
    ("every supplier has a nation", "supplier", "su_nationkey", "nation", "n_nationkey"),
    (
        "every stock has a supplier",
        "stock",
        "(s_w_id * s_i_id) % 10000",
        "supplier",
        "su_suppkey",
    ),
)


def check(
    target: str,
    connect: Callable[[], Connection],
    loaded: Loaded,
    after: Literal["load", "run"],  # noqa: ARG001  (no transaction changes these tables)
) -> list[Check]:
    """Checks row counts, column sums and dangling references of the three tables.

    The nine others are checked as those of the order entry.
    """
    with contextlib.closing(connect()) as connection:
        return [
            *check_rows(target, connection, expected_rows("ch", loaded)),
            *(_check_link(target, connection, *link) for link in _LINKS),
            *check_content(target, "ch", connection, loaded),
        ]


def _check_link(
    target: str, connection: Connection, title: str, table: str, value: str, other: str, key: str
) -> Check:
    lost = count(connection, f"{table} WHERE {value} NOT IN (SELECT {key} FROM {other})")  # noqa: S608
    message = (
        "no dangling references"
        if lost == 0
        else f"{lost:,} rows of {table} have no match in {other}; load it again"
    )
    return Check(
        name=title, target=target, passed=lost == 0, message=message, detail={"rows": lost}
    )

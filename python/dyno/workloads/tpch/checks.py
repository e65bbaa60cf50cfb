"""Checks that the loaded data is complete: row counts, sums, and no dangling references."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dyno.bundle.model import Check
from dyno.contracts.refresh import matching
from dyno.contracts.target import Connection, Listing, Loaded
from dyno.workloads.content import check_content
from dyno.workloads.rows import Expected, check_rows, count, expected_rows
from dyno.workloads.tpch.refresh import REFRESH


@dataclass(frozen=True)
class Link:
    """Each row of ``table`` must match at least one row of ``other`` by these columns."""

    title: str
    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]

    def sql_from(self, *, listed: bool = False) -> str:
        """A ``FROM`` clause for rows of ``table`` without a match; with ``listed`` as ``NOT IN``.

        The columns are never NULL, so both forms are equivalent.
        """
        if listed:
            own, others = ", ".join(self.columns), ", ".join(self.other_columns)
            listing = f"SELECT {others} FROM {self.other}"  # noqa: S608  (fixed names)
            return f"{self.table} WHERE ({own}) NOT IN ({listing})"
        pairs = zip(self.other_columns, self.columns, strict=True)
        equal = " AND ".join(f"{other} = {own}" for other, own in pairs)
        match = f"SELECT 1 FROM {self.other} WHERE {equal}"  # noqa: S608  (fixed names)
        return f"{self.table} WHERE NOT EXISTS ({match})"


LINKS = (
    Link("every nation has a region", "nation", ("n_regionkey",), "region", ("r_regionkey",)),
    Link("every supplier has a nation", "supplier", ("s_nationkey",), "nation", ("n_nationkey",)),
    Link("every customer has a nation", "customer", ("c_nationkey",), "nation", ("n_nationkey",)),
    Link("every supply has a part", "partsupp", ("ps_partkey",), "part", ("p_partkey",)),
    Link("every supply has a supplier", "partsupp", ("ps_suppkey",), "supplier", ("s_suppkey",)),
    Link("every order has a customer", "orders", ("o_custkey",), "customer", ("c_custkey",)),
    Link("every order has a line", "orders", ("o_orderkey",), "lineitem", ("l_orderkey",)),
    Link("every line has an order", "lineitem", ("l_orderkey",), "orders", ("o_orderkey",)),
    Link(
        "every line has a supply",
        "lineitem",
        ("l_partkey", "l_suppkey"),
        "partsupp",
        ("ps_partkey", "ps_suppkey"),
    ),
)


def check(
    target: str,
    connect: Callable[[], Connection],
    loaded: Loaded,
    after: Literal["load", "run"],
) -> list[Check]:
    """Checks row counts, dangling references and column sums of all tables.

    After a run, also checks for rows left by its refresh functions.
    """
    with contextlib.closing(connect()) as connection:
        left = [_check_left(target, connection, loaded)] if after == "run" else []
        checks = check_data(target, connection, expected_rows("tpch", loaded))
        return left + checks + check_content(target, "tpch", connection, loaded)


def check_data(target: str, connection: Connection, expected: Expected) -> list[Check]:
    """Runs the checks with given row counts, in one session."""
    checks = check_rows(target, connection, expected)
    return checks + [_check_link(target, connection, link) for link in LINKS]


def _check_left(target: str, connection: Connection, loaded: Loaded) -> Check:
    left = sum(count(connection, matching(*item)) for item in REFRESH.foreign.items())
    whole = left == 0 and not loaded.unrestored
    message = (
        "none"
        if whole
        else f"{left:,} new rows and {loaded.unrestored} unrestored update sets of an "
        "interrupted run; `dyno run tpch` restores the data"
    )
    return Check(
        name="rows left by refresh functions",
        target=target,
        passed=whole,
        message=message,
        detail={"rows": left, "unrestored": loaded.unrestored},
    )


def _check_link(target: str, connection: Connection, link: Link) -> Check:
    listed = isinstance(connection, Listing) and connection.lists_once
    lost = count(connection, link.sql_from(listed=listed))
    message = (
        "no dangling references"
        if lost == 0
        else f"{lost:,} rows of {link.table} have no match in {link.other}; load it again"
    )
    return Check(
        name=link.title, target=target, passed=lost == 0, message=message, detail={"rows": lost}
    )

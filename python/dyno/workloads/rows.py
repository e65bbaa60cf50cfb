"""Checks that all generated rows are present, for any workload."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from dyno.bundle.model import Check
from dyno.contracts.databases import workload_of
from dyno.contracts.schema import table_names
from dyno.contracts.target import Connection, Loaded, neutrally

Expected = Mapping[str, tuple[int, bool]]
"""Rows of each table, and whether the number is exact or expected."""


def expected_rows(
    workload: str, loaded: Loaded, tables: Iterable[str] = ()
) -> dict[str, tuple[int, bool]]:
    """Row counts of these or all tables of the workload, from the generator."""
    from dyno import _core

    return {
        table: _core.rows(workload_of(workload), table, loaded.scale, loaded.seed, loaded.days)
        for table in tables or table_names(workload)
    }


def check_rows(target: str, connection: Connection, expected: Expected) -> list[Check]:
    """One check per table: its row count against the generator's.

    A count that is not exact may differ by five standard deviations. Lines per order are uniform in
    1–7 or 5–15: variance and mean are equal (4 and 10), so the standard deviation of the total is
    the square root of its mean.
    """
    return [
        _check(target, table, count(connection, table), rows, exact)
        for table, (rows, exact) in expected.items()
    ]


def count(connection: Connection, source: str) -> int:
    """Row count of a table, or of anything else that may follow ``FROM``."""
    return int(neutrally(connection, f"SELECT COUNT(*) FROM {source}").rows[0][0])  # noqa: S608


def _check(target: str, table: str, found: int, expected: int, exact: bool) -> Check:
    slack = 0 if exact else math.ceil(5 * math.sqrt(expected))
    passed = abs(found - expected) <= slack
    about = "" if exact else "about "
    message = (
        f"{found:,} row{'' if found == 1 else 's'}, {about}as generated"
        if passed
        else f"{found:,} rows, expected {about}{expected:,}; load it again"
    )
    detail = {"rows": found, "expected": expected, "slack": slack}
    return Check(
        name=f"rows of {table}", target=target, passed=passed, message=message, detail=detail
    )

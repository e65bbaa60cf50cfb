"""Compares a table's content with the generator's by exact sums of its columns.

Sums do not depend on the order of rows, every engine supports them, and one pass over the table
computes all. They reveal lost, duplicated and changed rows.
"""

from __future__ import annotations

import json
import math
import os
from decimal import Decimal
from typing import Any

from dyno.bundle.model import Check
from dyno.contracts import schema
from dyno.contracts.target import Connection, Loaded, neutrally

_FLOAT_SHARE = 1e-9

LARGEST = 100.0
"""Above this scale, generating the data again for a check takes minutes."""


def check_content(
    target: str, workload: str, connection: Connection, loaded: Loaded
) -> list[Check]:
    """One check per table: row count and sum of each number column against the generator's."""
    if loaded.scale > LARGEST:
        message = f"skipped: above scale {LARGEST:g}, regenerating the data takes too long"
        return [Check(name="content", target=target, passed=None, message=message)]
    return [
        _check(target, table, connection, expected_sums(workload, table, loaded))
        for table in schema.tables(workload)
    ]


def expected_sums(workload: str, table: dict[str, Any], loaded: Loaded) -> dict[str, Decimal]:
    """Generates a table again; returns its ``rows`` and the sums of its number columns."""
    from dyno import _core

    threads = len(os.sched_getaffinity(0))
    text = _core.sums(
        workload, table["name"], loaded.scale, loaded.seed, threads, _core.Control(), loaded.days
    )
    found = json.loads(text)
    columns = zip(table["columns"], found["sums"], strict=True)
    sums = {item["name"]: Decimal(total) for item, total in columns if _is_number(item)}
    return {"rows": Decimal(found["rows"]), **sums}


def found_sums(connection: Connection, table: dict[str, Any]) -> dict[str, Any]:
    """The same from the engine, in one pass over the table."""
    names = [column["name"] for column in table["columns"] if _is_number(column)]
    sums = ", ".join(["COUNT(*)", *(f"SUM({name})" for name in names)])
    row = neutrally(connection, f"SELECT {sums} FROM {table['name']}").rows[0]  # noqa: S608
    return dict(zip(["rows", *names], row, strict=True))


def _check(
    target: str, table: dict[str, Any], connection: Connection, expected: dict[str, Decimal]
) -> Check:
    found = found_sums(connection, table)
    wrong = [name for name, total in expected.items() if not _same(found[name], total)]
    detail = {name: {"found": str(found[name]), "generated": str(expected[name])} for name in wrong}
    if wrong:
        what = "rows" if wrong[0] == "rows" else f"sum of {wrong[0]}"
        values = f"{found[wrong[0]]}, expected {expected[wrong[0]]}"
        message = f"{what}: {values}; load it again"
    else:
        message = f"row count and sums of {len(expected) - 1} columns match the generator"
    return Check(
        name=f"content of {table['name']}",
        target=target,
        passed=not wrong,
        message=message,
        detail=detail,
    )


def _same(found: Any, expected: Decimal) -> bool:
    """Exactly equal, or within rounding for engines that sum in floating point."""
    if found is None:
        return False
    if isinstance(found, float):
        return math.isclose(found, float(expected), rel_tol=_FLOAT_SHARE)
    return Decimal(found) == expected


def _is_number(column: dict[str, Any]) -> bool:
    return column["kind"]["type"] in {"int32", "int64", "decimal"}

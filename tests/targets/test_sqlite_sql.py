"""Neutral statements in SQLite's words."""

from __future__ import annotations

import re
from datetime import date

import pytest

from dyno import workloads
from dyno.errors import DynoError
from dyno.targets.sqlite import variants
from dyno.targets.sqlite.queries import own
from dyno.targets.sqlite.translate import later, to_sqlite


@pytest.mark.parametrize(
    ("neutral", "expected"),
    [
        ("SELECT DATE '1998-12-01' - INTERVAL '90' DAY", "SELECT '1998-09-02'"),
        ("SELECT DATE '1995-01-31' + INTERVAL '1' MONTH", "SELECT '1995-02-28'"),
        ("SELECT DATE '1996-02-29' + INTERVAL '1' YEAR", "SELECT '1997-02-28'"),
        ("SELECT a BETWEEN 0.06 - 0.01 AND 0.06 + 0.01", "SELECT a BETWEEN 0.05 AND 0.07"),
        ("SELECT EXTRACT(YEAR FROM d)", "SELECT CAST(STRFTIME('%Y', d) AS INTEGER)"),
        ("SELECT SUBSTRING(a FROM 1 FOR 2)", "SELECT SUBSTRING(a, 1, 2)"),
        ("SELECT a + 1, 1 - b FROM t", "SELECT a + 1, 1 - b FROM t"),
        ("SELECT 'it''s' AS x ORDER BY x DESC", "SELECT 'it''s' AS x ORDER BY x DESC"),
    ],
)
def test_statements(neutral: str, expected: str) -> None:
    assert to_sqlite(neutral) == expected


@pytest.mark.parametrize(
    ("day", "count", "unit", "expected"),
    [
        (date(1993, 11, 30), 3, "MONTH", date(1994, 2, 28)),
        (date(1994, 1, 31), -2, "MONTH", date(1993, 11, 30)),
        (date(1993, 12, 1), 1, "MONTH", date(1994, 1, 1)),
        (date(1994, 1, 1), -1, "DAY", date(1993, 12, 31)),
    ],
)
def test_days_are_counted_as_postgresql_counts(
    day: date, count: int, unit: str, expected: date
) -> None:
    assert later(day, count, unit) == expected


def test_what_an_or_implies_of_each_table_is_added() -> None:
    found = own(
        "tpch",
        "q19",
        "SELECT 1 FROM part JOIN lineitem ON l_partkey = p_partkey WHERE p_size < 9 AND "
        "((p_brand = 'a' AND l_tax = 1 AND p_name = 'c') OR (l_tax = 2 AND p_brand = 'b'))",
    )
    conditions = found.partition(" WHERE ")[2]
    assert "p_size < 9" in conditions
    assert "(p_brand = 'a' AND p_name = 'c') OR p_brand = 'b'" in conditions
    assert "l_tax = 1 OR l_tax = 2" in conditions


@pytest.mark.parametrize(
    "condition",
    [
        "p_brand = 'a' OR p_brand = 'b'",  # of one table: nothing to add
        "(p_brand = 'a' AND l_tax = 1) OR s_name = 'x'",  # nothing that all branches share
        "p_partkey = l_partkey OR (p_size = 1 AND l_tax = 3)",  # a branch of both at once
        "p_brand = 'a' AND l_tax = 1",
    ],
)
def test_where_nothing_is_implied_nothing_is_added(condition: str) -> None:
    neutral = f"SELECT 1 FROM part, lineitem, supplier WHERE {condition}"
    assert own("tpch", "q19", neutral).count(" OR ") == neutral.count(" OR ")


def test_what_all_branches_repeat_stands_before_them() -> None:
    found = own(
        "tpch",
        "q19",
        "SELECT 1 FROM part, lineitem WHERE (p_partkey = l_partkey AND p_size = 1 AND l_tax = 3) "
        "OR (p_partkey = l_partkey AND p_size = 2)",
    )
    before, _, after = found.partition(" AND p_partkey = l_partkey")
    assert " OR " in before
    assert "(p_size = 1 OR p_size = 2)" in after


def test_what_is_added_never_changes_the_rows() -> None:
    """Also where values are missing: over every combination of them."""
    import itertools
    import sqlite3

    neutral = (
        "SELECT p_brand, p_size, l_tax, l_quantity FROM part, lineitem WHERE "
        "(p_brand = 1 AND l_tax = 1) OR (p_size = 2 AND l_quantity = 2) OR "
        "(NOT p_brand = 2 AND l_tax IS NULL)"
    )
    raw = sqlite3.connect(":memory:")
    raw.execute("CREATE TABLE part (p_brand, p_size)")
    raw.execute("CREATE TABLE lineitem (l_tax, l_quantity)")
    values = list(itertools.product((None, 1, 2), repeat=2))
    for table in ("part", "lineitem"):
        raw.executemany(f"INSERT INTO {table} VALUES (?, ?)", values)
    changed = own("tpch", "q19", neutral)
    assert changed.count(" OR ") > neutral.count(" OR ")
    rows = [sorted(map(repr, raw.execute(text))) for text in (neutral, changed)]
    raw.close()
    assert rows[0] == rows[1]
    assert 0 < len(rows[0]) < 81


@pytest.mark.parametrize(
    ("workload", "name"),
    [(workload, name) for workload in workloads.names() for name in variants.of(workload).orders],
)
def test_tables_are_joined_in_the_order_that_is_given(workload: str, name: str) -> None:
    (query,) = [query for query in workloads.get(workload).queries if query.name == name]
    found = own(workload, name, query.text())
    joined = found.partition(" FROM ")[2].rpartition(" WHERE ")[0].rpartition("FROM ")[2]
    tables = tuple(part.split()[-1] for part in joined.split(" CROSS JOIN "))
    assert tables == variants.of(workload).orders[name]
    # Every condition of a join stays.
    joins = re.findall(r"[a-z_.]+key = [a-z_.]+key", query.text())
    assert len(joins) >= len(tables) - 1
    assert all(condition in found for condition in joins)


def test_a_query_that_joins_other_tables_is_a_fault_of_dyno() -> None:
    with pytest.raises(DynoError, match="No SELECT joins orders"):
        own("tpch", "q05", "SELECT 1 FROM part JOIN lineitem ON l_partkey = p_partkey")

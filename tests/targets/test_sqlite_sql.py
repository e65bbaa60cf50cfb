"""Neutral statements in SQLite's words."""

from __future__ import annotations

from datetime import date

import pytest

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

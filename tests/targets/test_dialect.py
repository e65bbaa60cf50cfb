"""Neutral SQL in other systems' words."""

from __future__ import annotations

import pytest

from dyno.targets.dialect import translate


@pytest.mark.parametrize("dialect", ["mysql", "sqlite", "clickhouse", "duckdb", "postgres"])
def test_the_order_is_that_of_the_statement_and_no_more(dialect: str) -> None:
    found = translate("select a from t order by a desc, b", dialect)
    assert found == "SELECT a FROM t ORDER BY a DESC, b"


def test_intervals_are_put_in_the_systems_own_way() -> None:
    neutral = "select date '1998-12-01' - interval '90' day"
    assert translate(neutral, "mysql").endswith("INTERVAL '90' DAY")

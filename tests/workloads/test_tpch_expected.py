"""Expected answers that Dyno ships: made well, equal to what engines and the publisher say."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from dyno.workloads.answers import BETWEEN_ENGINES, compare_engines, compare_expected
from dyno.workloads.diff import diff
from dyno.workloads.tpch import WORKLOAD
from dyno.workloads.tpch.expected import SCALES, expected, path, read
from dyno.workloads.tpch.queries import QUERIES
from tests.workloads.conftest import Session

by_query = pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)


@pytest.mark.parametrize("scale", SCALES)
def test_files_say_how_they_were_made_and_hold_every_query(scale: float) -> None:
    content = read(scale)
    assert {"postgresql", "duckdb"} <= set(content["about"]["engines"])
    assert content["about"]["scale"] == scale
    assert set(content["answers"]) == {query.name for query in QUERIES}
    assert path(scale).stat().st_size < 100_000
    for query in QUERIES:
        assert WORKLOAD.expected(query, scale) is not None
        # Made with other parameters, an answer would be that of another question.
        asked = json.loads(json.dumps(query.validation(scale)))
        assert content["answers"][query.name]["parameters"] == asked


@by_query
def test_engines_fed_by_another_generator_answer_as_expected(
    query: Any, engine: str, tpch_sessions: dict[str, Session]
) -> None:
    session = tpch_sessions[engine]
    rows = session.execute(query.text(query.validation(0.01))).rows
    answer = expected(query, 0.01)
    assert answer is not None
    assert compare_expected(rows, answer, query.rules) == []
    if rows:
        assert compare_expected(rows[1:], answer, query.rules)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("name", "column"), [("q01", "avg_disc"), ("q14", "promo_revenue")])
def test_an_average_that_is_a_tenth_too_small_is_found(
    scale: float, name: str, column: str
) -> None:
    query = next(query for query in QUERIES if query.name == name)
    answer = expected(query, scale)
    assert answer is not None
    place = query.columns.index(column)
    wrong = [list(row) for row in answer]
    wrong[0][place] = float(wrong[0][place]) * 0.9
    (found,) = compare_expected(wrong, answer, query.rules)
    assert found.column == place + 1


def test_a_share_of_the_market_that_is_a_third_too_small_is_found() -> None:
    query = next(query for query in QUERIES if query.name == "q08")
    answer = expected(query, 1)
    assert answer is not None
    wrong = [(year, float(share) * 0.75) for year, share in answer]
    assert len(compare_expected(wrong, answer, query.rules)) == len(answer) == 2


@by_query
@pytest.mark.usefixtures("compiled")
def test_at_scale_1_they_are_the_published_ones(query: Any) -> None:
    answer = expected(query, 1)
    assert answer is not None
    assert WORKLOAD.reference(query, 1, answer) == []


def test_there_are_none_at_other_scales() -> None:
    assert all(expected(query, 0.1) is None for query in QUERIES)


@pytest.mark.usefixtures("compiled")
def test_they_hold_for_every_seed_since_the_data_does_not_depend_on_it() -> None:
    from dyno import _core

    for table in ("supplier", "orders", "lineitem"):
        first, second = (
            _core.sums("tpch", table, 0.01, seed, 2, _core.Control()) for seed in (1, 2)
        )
        assert first == second


def test_a_difference_names_the_key_of_its_row_and_the_rule() -> None:
    query = next(query for query in QUERIES if query.name == "q22")
    right = [("13", 10, Decimal("100.00")), ("17", 20, Decimal("200.00"))]
    wrong = [("13", 10, Decimal("100.00")), ("17", 20, Decimal("205.00")), ("18", 1, Decimal(1))]
    found = compare_engines(wrong, right, query.rules)
    assert diff(query, found, ("got", "expected"), BETWEEN_ENGINES) == {
        "sides": ["got", "expected"],
        "columns": ["cntrycode", "numcust", "totacctbal"],
        "counts": ["3", "2"],
        "rows": [
            {
                "row": 2,
                "key": {"cntrycode": "17", "numcust": "20"},
                "values": [
                    {
                        "column": "totacctbal",
                        "texts": ["205.00", "200.00"],
                        "rule": "sum within 0.01 or 1 in 1,000,000,000",
                    }
                ],
            },
            {"row": 3, "only": "got", "texts": ["18", "1", "1.00"]},
        ],
    }

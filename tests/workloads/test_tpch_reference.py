"""Published answers: read from their text, and compared by the specification's tolerances."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dyno.workloads.tpch import WORKLOAD
from dyno.workloads.tpch.queries import QUERIES
from dyno.workloads.tpch.reference import check_reference, parse, reference, reference_text

BY_NAME = {query.name: query for query in QUERIES}

# Rows in each published answer at scale factor 1.
ROWS = {
    **{"q01": 4, "q02": 100, "q03": 10, "q04": 5, "q05": 5, "q06": 1, "q07": 4, "q08": 2},
    **{"q09": 175, "q10": 20, "q11": 1048, "q12": 2, "q13": 42, "q14": 1, "q15": 1, "q16": 18314},
    **{"q17": 1, "q18": 57, "q19": 1, "q20": 186, "q21": 100, "q22": 7},
}


def test_padding_goes_and_numbers_are_numbers() -> None:
    text = "\nname      |count     |code|comment     \nFRANCE    |        12|007 | quick  \n"
    assert parse(text, ("exact",) * 4) == [("FRANCE", Decimal(12), "007", " quick")]


def test_a_broken_text_is_refused() -> None:
    with pytest.raises(ValueError, match="header"):
        parse("\n \n", ("exact",))
    with pytest.raises(ValueError, match="3 fields, not 2"):
        parse("a|b\n1|2|3\n", ("exact", "exact"))


def test_answers_are_compared_with_tolerances() -> None:
    text = "cntrycode|numcust|totacctbal\n13 |   888|6737713.99\n17 |   861|6460573.72\n"
    rows = [("13", 888, Decimal("6737713.99")), ("17", 861, Decimal("6460600.00"))]
    query = BY_NAME["q22"]
    assert check_reference(query, rows, text) == []
    assert check_reference(query, [("13", 887, rows[0][2]), rows[1]], text)
    assert check_reference(query, rows[:1], text)


def test_the_cut_part_keys_of_q11_are_compared_as_far_as_they_go() -> None:
    text = "ps_partkey|value\n1297      |17538456.86\n          |16503353.92\n"
    query = BY_NAME["q11"]
    rows = [(129760, Decimal("17538456.86")), (47, Decimal("16503353.92"))]
    assert check_reference(query, rows, text) == []
    assert check_reference(query, [(129860, rows[0][1]), rows[1]], text)
    assert check_reference(query, [rows[0], (47, Decimal("16503553.92"))], text)
    whole = "ps_partkey|value\n129760|17538456.86\n47|16503353.92\n"
    assert check_reference(query, rows, whole) == []


def test_there_are_no_published_answers_at_other_scales() -> None:
    assert all(reference(query, 0.1, []) is None for query in QUERIES)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
@pytest.mark.usefixtures("compiled")
def test_the_published_answers_can_be_read(query: Any) -> None:
    rows = parse(reference_text(query), query.rules)
    assert len(rows) == ROWS[query.name]
    assert check_reference(query, rows, reference_text(query)) == []
    assert WORKLOAD.reference(query, 1, rows) == []
    assert WORKLOAD.reference(query, 1, rows[1:])
    for row in rows:
        for value, rule in zip(row, query.rules, strict=True):
            assert rule == "exact" or isinstance(value, Decimal)

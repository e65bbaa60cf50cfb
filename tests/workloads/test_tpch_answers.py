"""Answers of different engines become one text; differences are found and reported."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.contracts.rule import Rule
from dyno.workloads.answers import (
    BETWEEN_ENGINES,
    Difference,
    canonical,
    compare,
    compare_engines,
    compare_expected,
    digest,
    precise,
)

EXACT: tuple[Rule, ...] = ("exact",)
SUM: tuple[Rule, ...] = ("sum",)
AVERAGE: tuple[Rule, ...] = ("average",)
KEYED: tuple[Rule, ...] = ("exact", "sum", "average")

cents = st.decimals(-(10**12), 10**12, places=2, allow_nan=False, allow_infinity=False)
answers = st.lists(st.tuples(st.integers(0, 5), cents, cents), max_size=20)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (7.0, "7"),
        (Decimal("7.00"), "7"),
        (Decimal("7E+2"), "700"),
        (Decimal("-0.00"), "0"),
        (-0.0, "0"),
        (1e22, "10000000000000000000000"),
        (Decimal("9938.50"), "9938.5"),
        (9938.5, "9938.5"),
        (date(1995, 3, 5), "1995-03-05"),
        (datetime(1995, 3, 5), "1995-03-05"),
        (datetime(1995, 3, 5, 1), "1995-03-05T01:00:00"),
        ("1995-03-05", "1995-03-05"),
        ("FRANCE                   ", "FRANCE"),
        (b"FRANCE   ", "FRANCE"),
        (b"\xff", "\\xff"),
        (" carefully", " carefully"),
        ("007", "007"),
        (None, "\\N"),
        (float("nan"), "nan"),
        (Decimal("NaN"), "nan"),
        (float("-inf"), "-inf"),
    ],
)
def test_one_value_has_one_text(value: Any, text: str) -> None:
    assert canonical([(value,)], EXACT) == [(text,)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("0.005"), "0.01"),
        (Decimal("-0.005"), "-0.01"),
        (Decimal("-0.004"), "0.00"),
        (1.005, "1.01"),
        (Decimal("55909065222.827692"), "55909065222.83"),
        ("123141078.2283", "123141078.23"),
        (3, "3.00"),
        (None, "\\N"),
        ("none", "none"),
    ],
)
@pytest.mark.parametrize("rule", ["sum", "average"])
def test_sums_and_averages_have_two_decimals_rounded_half_up(
    value: Any, text: str, rule: Rule
) -> None:
    assert canonical([(value,)], (rule,)) == [(text,)]


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="2 columns, expected 1"):
        canonical([(1, 2)], EXACT)


@given(st.decimals(-(10**15), 10**15, places=2, allow_nan=False))
def test_exact_numbers_keep_every_digit(number: Decimal) -> None:
    ((text,),) = canonical([(number,)], EXACT)
    assert Decimal(text) == number
    assert canonical([(Decimal(text),)], EXACT) == [(text,)]


@given(answers, st.randoms(use_true_random=False))
def test_row_order_changes_nothing(rows: list[Any], shuffler: random.Random) -> None:
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    assert digest(shuffled, KEYED) == digest(rows, KEYED)
    assert compare(shuffled, rows, KEYED, BETWEEN_ENGINES) == []


@given(answers)
def test_driver_types_change_nothing(rows: list[Any]) -> None:
    other = [(float(key), str(total), f"{mean:f}  ") for key, total, mean in rows]
    assert digest(other, KEYED) == digest(rows, KEYED)
    assert compare_engines(other, rows, KEYED) == []


@given(answers.filter(bool), st.data())
def test_a_changed_key_or_a_lost_row_is_found(rows: list[Any], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    key, *rest = rows[place]
    changed = [*rows[:place], (key + 100, *rest), *rows[place + 1 :]]
    lost = rows[:place] + rows[place + 1 :]
    for other in (changed, lost, [*rows, rows[place]]):
        assert digest(other, KEYED) != digest(rows, KEYED)
        assert compare(other, rows, KEYED)
        assert compare_engines(other, rows, KEYED)


@given(cents, st.decimals(-200, 200, places=2, allow_nan=False))
def test_sums_may_be_off_by_a_hundred_from_published_ones(value: Decimal, off: Decimal) -> None:
    found = compare([("a", value + off)], [("a", value)], ("exact", "sum"))
    assert bool(found) == (abs(off) > 100)


@pytest.mark.parametrize(
    ("got", "published", "same"),
    [
        ("0.0344", "0.03", True),
        ("0.0350", "0.03", False),
        ("25.52", "25.52", True),
        ("101.00", "100.00", True),
        ("101.01", "100.00", False),
        ("99.00", "100.00", True),
        ("98.99", "100.00", False),
        ("-101.00", "-100.00", True),
        ("-101.01", "-100.00", False),
    ],
)
def test_averages_may_be_off_by_one_percent_from_published_ones(
    got: str, published: str, same: bool
) -> None:
    assert (compare([(Decimal(got),)], [(Decimal(published),)], AVERAGE) == []) == same


def test_between_engines_only_rounding_is_forgiven() -> None:
    assert compare_engines([(Decimal("10.005"),)], [(10.0049999,)], SUM) == []
    assert compare_engines([(Decimal("1000.00"),)], [(Decimal("1000.02"),)], SUM)
    assert compare_engines([(56586554400.73,)], [(56586554401.13,)], SUM) == []
    assert compare_engines([(0.125,)], [(0.1249999,)], AVERAGE) == []
    assert compare_engines([(0.12,)], [(0.14,)], AVERAGE)


def test_a_ratio_is_compared_before_it_is_rounded() -> None:
    share, wrong = Decimal("0.03443589040665479743"), 0.0258
    assert compare_engines([(wrong,)], [(share,)], AVERAGE), "a third less, and a cent"
    assert compare_expected([(wrong,)], [(share,)], AVERAGE)
    assert compare_expected([(wrong,)], [(str(share),)], AVERAGE)
    assert compare_engines([(float(share),)], [(share,)], AVERAGE) == []
    assert compare_engines([("0.034436",)], [(share,)], AVERAGE) == [], "an engine's six decimals"
    assert compare_engines([(0,)], [(Decimal("0.0000"),)], AVERAGE) == []


def test_an_expected_ratio_of_two_decimals_is_compared_as_a_published_one() -> None:
    assert compare_expected([(0.0344,)], [("0.03",)], AVERAGE) == []
    assert compare_expected([(0.0358,)], [("0.03",)], AVERAGE)
    assert compare_expected([("25.51",)], [("25.5",)], AVERAGE) == []


def test_precise_rows_keep_the_digits_of_averages_only() -> None:
    rules: tuple[Rule, ...] = ("exact", "sum", "average")
    row = ("a ", Decimal("1.005"), Decimal("0.0344350"))
    assert precise([row], rules) == [("a", "1.01", "0.034435")]
    assert precise([("a", None, float("nan"))], rules) == [("a", "\\N", "nan")]


@pytest.mark.parametrize("bad", [None, "much", float("nan"), float("inf")])
def test_what_is_no_number_never_equals_one(bad: Any) -> None:
    for rule in ("exact", "sum", "average"):
        assert compare([(bad,)], [(Decimal(1),)], (rule,))
        assert compare([(Decimal(1),)], [(bad,)], (rule,))
        assert compare([(bad,)], [(bad,)], (rule,)) == []


def test_a_wrong_value_is_reported_with_its_place() -> None:
    ours = [("a", 1, 10), ("b", 2, 20)]
    theirs = [("b", 3, 500), ("a", 1, 10)]
    rules: tuple[Rule, ...] = ("exact", "exact", "sum")
    assert compare(ours, theirs, rules) == [
        Difference(2, 2, "2", "3"),
        Difference(2, 3, "20.00", "500.00"),
    ]
    assert str(compare(ours, theirs, rules)[0]) == "row 2, column 2: '2' against '3'"


def test_missing_and_extra_rows_are_reported_with_the_counts() -> None:
    ours, theirs = [("a",), ("b",)], [("a",)]
    assert [str(one) for one in compare(ours, theirs, EXACT)] == [
        "2 rows against 1",
        "row 2: only the first has b",
    ]
    assert [str(one) for one in compare(theirs, ours, EXACT)] == [
        "1 rows against 2",
        "row 2: only the second has b",
    ]


def test_ten_differences_are_enough() -> None:
    assert len(compare([(n,) for n in range(50)], [(n + 100,) for n in range(50)], EXACT)) == 10
    assert len(compare([(n,) for n in range(50)], [], EXACT)) == 10

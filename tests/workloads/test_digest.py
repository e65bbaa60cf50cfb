"""The digest goes column by column, and says what the canonical rows say."""

from __future__ import annotations

import hashlib
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.contracts.rule import Rule
from dyno.workloads.canonical import canonical, digest

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-99, max_value=99),
    st.sampled_from([Decimal(text) for text in ("NaN", "-Infinity", "1E+3", "-1E-7", "9.995")]),
    st.sampled_from(["1.005", "-0.004", " 12.5 ", "1E+3", "-0", "9.995", "-99.995", "NaN"]),
    st.dates(),
    st.datetimes(),
)
COLUMN = st.sampled_from(
    [
        VALUES,
        st.integers(),
        st.floats(),
        st.floats(-99.995, 99.995).map(lambda value: round(value, 3)),
        st.decimals(-10, 10, places=3, allow_nan=False),
        st.text(" abé\U0001f600", max_size=4),
    ]
)
RULES: tuple[Rule, ...] = ("exact", "sum", "exact", "average")


@given(st.data(), st.integers(0, 6))
def test_the_digest_is_that_of_the_sorted_canonical_rows(data: Any, count: int) -> None:
    columns = [data.draw(st.lists(data.draw(COLUMN), min_size=count, max_size=count))
               for _ in RULES]  # fmt: skip
    rows = list(zip(*columns, strict=True))
    records = sorted("\x1f".join(row) for row in canonical(rows, RULES))
    expected = hashlib.sha256("\x1e".join(records).encode()).hexdigest()[:16]
    assert digest(rows, RULES) == expected


def test_known_digest() -> None:
    rows = [(2, "b ", Decimal("1.005")), (1, "a", 0.1), (3, date(1995, 1, 1), None)]
    text = "\x1e".join(["1\x1fa\x1f0.10", "2\x1fb\x1f1.01", "3\x1f1995-01-01\x1f\\N"])
    rules: tuple[Rule, ...] = ("exact", "exact", "sum")
    assert digest(rows, rules) == hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("value", "exact", "cents"),
    [
        (Decimal("-0.005"), "-0.005", "-0.01"),
        (Decimal("-0.0049"), "-0.0049", "0.00"),
        (Decimal("99.995"), "99.995", "100.00"),
        (Decimal("-9.9950"), "-9.995", "-10.00"),
        (Decimal("1E+3"), "1000", "1000.00"),
        (Decimal("1E-7"), "0.0000001", "0.00"),
        (Decimal("-0.00"), "0", "0.00"),
        (-0.0, "0", "0.00"),
        (1.005, "1.005", "1.01"),
        (1e22, "10000000000000000000000", "10000000000000000000000.00"),
        (float("-inf"), "-inf", "-inf"),
        (Decimal("NaN"), "nan", "nan"),
        (2**70, "1180591620717411303424", "1180591620717411303424.00"),
        (True, "1", "1.00"),
        (datetime(1995, 1, 1), "1995-01-01", "1995-01-01"),
        (b"a ", "a", "a"),
        ("1.005 ", "1.005", "1.01"),
        (None, "\\N", "\\N"),
    ],
)
def test_texts_of_the_digest(value: Any, exact: str, cents: str) -> None:
    expected = hashlib.sha256(f"{exact}\x1f{cents}".encode()).hexdigest()[:16]
    assert digest([[value, value]], ("exact", "sum")) == expected


def test_rows_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match="2 columns, expected 3"):
        digest([(1, 2, 3), (1, 2)], ("exact", "exact", "exact"))

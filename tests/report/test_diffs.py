"""Rows that differ, as a terminal shows them."""

from __future__ import annotations

from typing import Any

import pytest

from dyno.bundle.model import Check
from dyno.report.run.diffs import lines, places


def failed(diff: Any) -> Check:
    return Check(
        name="answers-expected-q01",
        target="duckdb",
        passed=False,
        message="",
        detail={"diff": diff},
    )


def value(column: str, first: str, second: str) -> dict[str, Any]:
    return {"column": column, "texts": [first, second], "rule": "sum within 0.01"}


def test_each_row_has_its_key_and_each_value_both_sides() -> None:
    rows = [
        {"row": 2, "key": {"flag": "N"}, "values": [value("a", "1", "2"), value("b", "3", "4")]},
        {"row": 3, "only": "expected", "texts": ["x", "y"]},
    ]
    diff = {"sides": ["got", "expected"], "counts": ["4", "5"], "rows": rows}
    assert lines([failed(diff)]) == [
        "answers-expected-q01 on duckdb: got | expected",
        "  row count",
        "    4 | 5  (equal)",
        "  row 2, flag=N",
        "    a: 1 | 2  (sum within 0.01)",
        "    b: 3 | 4  (sum within 0.01)",
        "  row 3 of expected",
        "    – | x, y  (in both)",
    ]


def test_it_fits_the_terminal_and_stops_after_five_rows() -> None:
    rows = [
        {"row": n, "key": {"name": "n" * 60}, "values": [value("c" * 40, "1" * 30, "2" * 30)]}
        for n in range(1, 9)
    ]
    shown = lines([failed({"sides": ["got", "expected"], "rows": rows})])
    assert max(map(len, shown)) <= 80
    assert shown[-1] == "  … more in checks.json"
    assert sum("row " in line for line in shown) == 5


@pytest.mark.parametrize(
    "diff",
    [None, [], "x", {"rows": 1}, {"rows": [None, {"values": [1, {"texts": 3}]}]}, {"counts": [1]}],
)
def test_what_is_no_diff_shows_nothing(diff: Any) -> None:
    assert places(failed(diff)) == []


def test_control_characters_do_not_reach_the_terminal() -> None:
    rows = [{"row": "\x1b[31m", "key": {"\x1b": "\x00"}, "values": [value("\x1b[2J", "\x07", "a")]}]
    text = "".join(lines([failed({"sides": ["got", "expected"], "rows": rows})]))
    assert not set(text) & set("\x1b\x00\x07")

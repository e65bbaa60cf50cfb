"""The 22 queries: their parameters, and the same answers from two engines."""

from __future__ import annotations

import string
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from dyno.contracts.workload import Query
from dyno.workloads.answers import compare_engines
from dyno.workloads.sorting import out_of_order
from dyno.workloads.tpch.queries import QUERIES
from dyno.workloads.tpch.queries.domains import NATIONS, REGION_OF_NATION
from tests.workloads.conftest import Session

BY_NAME = {query.name: query for query in QUERIES}
DRAWS = 1000

each_query = pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)


def drawn(name: str, parameter: str, scale: float = 1) -> set[Any]:
    return {BY_NAME[name].draw(seed, scale)[parameter] for seed in range(DRAWS)}


def months(first: str, last: str) -> set[str]:
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return {
        f"{month // 12}-{month % 12 + 1:02}-01"
        for month in range(start.year * 12 + start.month - 1, end.year * 12 + end.month)
    }


JANUARIES = {f"{year}-01-01" for year in range(1993, 1998)}


def test_there_are_22_with_a_name_and_a_title() -> None:
    assert [query.name for query in QUERIES] == [f"q{number:02}" for number in range(1, 23)]
    assert len({query.title for query in QUERIES}) == 22


@each_query
def test_parameters_fit_the_placeholders(query: Query) -> None:
    names = {field for _, field, _, _ in string.Formatter().parse(query.sql) if field}
    assert set(query.defaults) == names
    assert query.validation(1) == query.defaults
    for seed in range(20):
        assert set(query.draw(seed, 1)) == names
        assert query.draw(seed, 1) == query.draw(seed, 1)
        assert "{" not in query.text(query.draw(seed, 1))
    assert len({str(query.draw(seed, 1)) for seed in range(50)}) > 3


@pytest.mark.parametrize(
    ("name", "parameter", "domain"),
    [
        ("q01", "delta", set(range(60, 121))),
        ("q02", "size", set(range(1, 51))),
        ("q02", "metal", {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"}),
        ("q02", "region", set(REGION_OF_NATION.values())),
        ("q03", "date", {f"1995-03-{day:02}" for day in range(1, 32)}),
        ("q04", "date", months("1993-01-01", "1997-10-01")),
        ("q05", "date", JANUARIES),
        ("q06", "date", JANUARIES),
        ("q06", "discount", {f"0.0{cents}" for cents in range(2, 10)}),
        ("q06", "quantity", {24, 25}),
        ("q07", "nation1", set(NATIONS)),
        ("q10", "date", months("1993-02-01", "1995-01-01")),
        ("q11", "nation", set(NATIONS)),
        ("q12", "date", JANUARIES),
        ("q14", "date", months("1993-01-01", "1997-12-01")),
        ("q15", "date", months("1993-01-01", "1997-10-01")),
        ("q18", "quantity", set(range(312, 316))),
        ("q19", "quantity1", set(range(1, 11))),
        ("q19", "quantity2", set(range(10, 21))),
        ("q19", "quantity3", set(range(20, 31))),
        ("q20", "date", JANUARIES),
        ("q22", "code1", {str(code) for code in range(10, 35)}),
    ],
)
def test_draws_cover_the_specified_range(name: str, parameter: str, domain: set[Any]) -> None:
    assert drawn(name, parameter) == domain


def test_draws_that_must_differ_do() -> None:
    for seed in range(DRAWS):
        assert len(set(BY_NAME["q07"].draw(seed, 1).values())) == 2
        modes = BY_NAME["q12"].draw(seed, 1)
        assert modes["mode1"] != modes["mode2"]
        sizes = BY_NAME["q16"].draw(seed, 1)
        assert len({sizes[f"size{number}"] for number in range(1, 9)}) == 8
        assert len(set(BY_NAME["q22"].draw(seed, 1).values())) == 7
        share = BY_NAME["q08"].draw(seed, 1)
        assert REGION_OF_NATION[share["nation"]] == share["region"]


def test_queries_of_one_stream_draw_independently() -> None:
    pairs = {
        (BY_NAME["q05"].draw(seed, 1)["date"], BY_NAME["q06"].draw(seed, 1)["date"])
        for seed in range(DRAWS)
    }
    assert len(pairs) == 25


@pytest.mark.parametrize(
    ("scale", "fraction"),
    [(1, "0.000100000000"), (0.01, "0.010000000000"), (1000, "0.000000100000")],
)
def test_the_share_of_q11_follows_the_scale(scale: float, fraction: str) -> None:
    assert drawn("q11", "fraction", scale) == {fraction}
    assert BY_NAME["q11"].validation(scale)["fraction"] == fraction


@each_query
@pytest.mark.parametrize("seed", [None, 1, 2], ids=["validation", "draw1", "draw2"])
def test_engines_agree(query: Query, seed: int | None, tpch_sessions: dict[str, Session]) -> None:
    parameters = query.validation(0.01) if seed is None else query.draw(seed, 0.01)
    answers = {
        name: session.execute(query.text(parameters)) for name, session in tpch_sessions.items()
    }
    left, right = answers.values()
    assert compare_engines(left.rows, right.rows, query.rules) == []
    for answer in answers.values():
        assert [name.lower() for name in answer.columns] == list(query.columns)
        assert out_of_order(query, answer.rows) is None


def test_most_answers_are_not_empty(tpch_sessions: dict[str, Session]) -> None:
    session = tpch_sessions["duckdb"]
    empty = {
        query.name
        for query in QUERIES
        if not session.execute(query.text(query.validation(0.01))).rows
    }
    assert not empty, "an empty answer proves nothing"


# A change to the data, and the query that must notice it. Each is the least that can go wrong.
MUTATIONS = [
    ("q01", "UPDATE lineitem SET l_tax = l_tax + 0.01 WHERE l_orderkey = 1 AND l_linenumber = 1"),
    ("q01", "DELETE FROM lineitem WHERE l_orderkey = 1 AND l_linenumber = 1"),
    ("q02", "UPDATE supplier SET s_phone = '0' || s_phone"),
    ("q03", "UPDATE orders SET o_shippriority = 1"),
    ("q04", "UPDATE lineitem SET l_receiptdate = l_commitdate WHERE l_orderkey % 50 = 1"),
    ("q05", "UPDATE nation SET n_name = 'SIAM' WHERE n_name = 'VIETNAM'"),
    ("q06", "UPDATE lineitem SET l_discount = l_discount + 0.01 WHERE l_orderkey % 100 = 1"),
    ("q07", "UPDATE lineitem SET l_shipdate = DATE '1998-01-01' WHERE l_orderkey % 20 = 1"),
    ("q08", "UPDATE supplier SET s_nationkey = 2 WHERE s_suppkey % 2 = 0"),
    ("q09", "UPDATE partsupp SET ps_supplycost = ps_supplycost + 0.01"),
    ("q10", "UPDATE lineitem SET l_returnflag = 'A' WHERE l_orderkey % 2 = 0"),
    ("q11", "UPDATE partsupp SET ps_availqty = ps_availqty + 1"),
    ("q12", "UPDATE orders SET o_orderpriority = '5-LOW' WHERE o_orderkey % 10 = 0"),
    ("q13", "DELETE FROM orders WHERE o_orderkey = 1"),
    ("q14", "UPDATE part SET p_type = 'ECONOMY' WHERE p_type LIKE 'PROMO%' AND p_size = 1"),
    ("q15", "UPDATE lineitem SET l_suppkey = 1 WHERE l_orderkey % 20 = 0"),
    ("q16", "UPDATE part SET p_brand = 'Brand#45' WHERE p_size = 49"),
    ("q17", "UPDATE part SET p_brand = 'Brand#23', p_container = 'MED BOX' WHERE p_size = 1"),
    ("q18", "UPDATE orders SET o_totalprice = o_totalprice + 0.01"),
    ("q19", "UPDATE lineitem SET l_shipmode = 'RAIL'"),
    ("q20", "UPDATE partsupp SET ps_availqty = 0"),
    ("q21", "UPDATE lineitem SET l_receiptdate = l_commitdate WHERE l_orderkey % 2 = 0"),
    ("q22", "DELETE FROM customer WHERE c_custkey % 3 = 0"),
]


@pytest.mark.parametrize(("name", "change"), MUTATIONS)
def test_changed_data_is_noticed(
    name: str,
    change: str,
    tpch_sessions: dict[str, Session],
    undone: Callable[[Session, str], None],
) -> None:
    query = BY_NAME[name]
    sql = query.text(query.validation(0.01))
    sound = tpch_sessions["postgresql"].execute(sql)
    undone(tpch_sessions["duckdb"], change)
    changed = tpch_sessions["duckdb"].execute(sql)
    assert compare_engines(sound.rows, changed.rows, query.rules)


def test_rows_in_wrong_order_are_noticed(tpch_sessions: dict[str, Session]) -> None:
    query = BY_NAME["q13"]
    rows = tpch_sessions["duckdb"].execute(query.text()).rows
    assert out_of_order(query, rows) is None
    found = out_of_order(query, [*rows[:3], rows[4], rows[3], *rows[5:]])
    assert found is not None
    assert found.row == 5

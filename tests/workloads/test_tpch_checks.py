"""Loaded data that is not whole is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dyno.contracts.target import Loaded, QueryResult
from dyno.workloads.rows import expected_rows
from dyno.workloads.tpch.checks import LINKS, check, check_data
from tests.workloads.conftest import TPCH_TABLES, Session

# Scale factor 0.01; the number of lines is a mean.
LOADED = Loaded(0.01, 1, complete=True)
EXPECTED = {
    "region": (5, True),
    "nation": (25, True),
    "supplier": (100, True),
    "customer": (1500, True),
    "part": (2000, True),
    "partsupp": (8000, True),
    "orders": (15000, True),
    "lineitem": (60000, False),
}

# What breaks the data, and the checks that must fail: no more, no fewer.
BREAKAGES = [
    ("DELETE FROM region WHERE r_regionkey = 4", {"rows of region", "every nation has a region"}),
    (
        "UPDATE nation SET n_nationkey = 99 WHERE n_nationkey = 3",
        {"every supplier has a nation", "every customer has a nation"},
    ),
    ("UPDATE part SET p_partkey = 0 WHERE p_partkey = 9", {"every supply has a part"}),
    ("UPDATE supplier SET s_suppkey = 0 WHERE s_suppkey = 9", {"every supply has a supplier"}),
    (
        "DELETE FROM partsupp WHERE ps_partkey = 9",
        {"rows of partsupp", "every line has a supply"},
    ),
    ("UPDATE customer SET c_custkey = 0 WHERE c_custkey = 4", {"every order has a customer"}),
    ("DELETE FROM orders WHERE o_orderkey = 1", {"rows of orders", "every line has an order"}),
    ("DELETE FROM lineitem WHERE l_orderkey = 1", {"every order has a line"}),
    (
        "DELETE FROM lineitem WHERE l_linenumber > 1 AND l_orderkey % 10 = 0",
        {"rows of lineitem"},
    ),
    (
        "UPDATE lineitem SET l_suppkey = 0 WHERE l_orderkey = 1 AND l_linenumber = 1",
        {"every line has a supply"},
    ),
]


@pytest.fixture
def session(engine: str, tpch_sessions: dict[str, Session]) -> Session:
    return tpch_sessions[engine]


def test_whole_data_passes(session: Session, engine: str) -> None:
    checks = check_data(engine, session, EXPECTED)
    assert len(checks) == len(TPCH_TABLES) + len(LINKS)
    assert [one for one in checks if not one.passed] == []
    assert {one.target for one in checks} == {engine}


class Listed:
    """A session of an engine that is to be asked by ``NOT IN``."""

    lists_once = True

    def __init__(self, session: Session) -> None:
        self._session = session
        self.asked: list[str] = []

    def execute(self, sql: str) -> QueryResult:
        self.asked.append(sql)
        return self._session.execute(sql)

    def cancel(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize(("breakage", "names"), BREAKAGES)
def test_both_ways_to_ask_find_the_same(
    breakage: str, names: set[str], session: Session, undone: Callable[[Session, str], None]
) -> None:
    listed = Listed(session)
    undone(session, breakage)
    failed = {one.name for one in check_data("any", listed, EXPECTED) if not one.passed}
    assert failed == names
    assert sum("NOT IN (SELECT" in sql for sql in listed.asked) == len(LINKS)


@pytest.mark.usefixtures("compiled")
def test_the_generator_counts_as_an_independent_build_of_it(engine: str, session: Session) -> None:
    """The data is of ``tpchgen-cli``; what is expected of it is the compiled half's word."""
    assert set(expected_rows("tpch", LOADED)) == set(TPCH_TABLES)
    found = check(engine, lambda: session, LOADED, "load")
    assert [one for one in found if not one.passed] == []


@pytest.mark.parametrize(("breakage", "names"), BREAKAGES)
def test_broken_data_is_found(
    breakage: str, names: set[str], session: Session, undone: Callable[[Session, str], None]
) -> None:
    undone(session, breakage)
    failed = [one for one in check_data("any", session, EXPECTED) if not one.passed]
    assert {one.name for one in failed} == names
    assert all("load it again" in one.message for one in failed)


def test_the_message_has_both_numbers(
    session: Session, undone: Callable[[Session, str], None]
) -> None:
    undone(session, "DELETE FROM orders WHERE o_orderkey < 3")
    found = {one.name: one for one in check_data("any", session, EXPECTED)}
    message = found["rows of orders"].message
    assert message == "14,998 rows, expected 15,000; load it again"
    assert found["rows of lineitem"].detail["slack"] == 1225

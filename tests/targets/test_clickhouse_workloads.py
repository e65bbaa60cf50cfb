"""ClickHouse answers the workloads as DuckDB does, and finds what is wrong in their data."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from dyno import targets, workloads
from dyno.contracts.target import Connection, Limits, Loaded, LoadPlan, Target
from dyno.contracts.workload import Query
from dyno.workloads.answers import compare_engines
from dyno.workloads.sorting import out_of_order
from dyno.workloads.tpcc.checks import check_conditions
from tests.conftest import missing

core = pytest.importorskip("dyno._core")

LIMITS = Limits(memory_bytes=1 << 30, threads=2)
SCALE = 0.01
SEEDS = (1, 2)
TPCH = workloads.get("tpch")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Target, Target]]:
    """DuckDB and ClickHouse with the same rows of TPC-H, and ClickHouse with those of TPC-C."""
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    out = tmp_path_factory.mktemp("both")

    def target(name: str) -> Target:
        return targets.open_target(targets.parse(f"embedded:{name}"), out, LIMITS)

    with target("duckdb") as duckdb, target("clickhouse") as clickhouse:
        for engine, workload, scale in [
            (duckdb, "tpch", SCALE),
            (clickhouse, "tpch", SCALE),
            (clickhouse, "tpcc", 1.0),
        ]:
            engine.create_tables(workload, replace=False)
            outcome = engine.load(LoadPlan(workload, scale, 1, 2), core.Control())
            assert outcome.rows == sum(table["rows"] for table in outcome.tables) > 0
            assert all(table["bytes"] > 0 for table in outcome.tables)
            engine.index(workload, threading.Event(), lambda *_: None)
        yield duckdb, clickhouse


@pytest.fixture(scope="module")
def sessions(both: tuple[Target, Target]) -> Iterator[tuple[Connection, Connection]]:
    duckdb, clickhouse = (target.connect("tpch") for target in both)
    with closing(duckdb), closing(clickhouse):
        yield duckdb, clickhouse


@pytest.mark.parametrize("query", TPCH.queries, ids=[query.name for query in TPCH.queries])
def test_answers_are_those_of_duckdb(
    both: tuple[Target, Target], sessions: tuple[Connection, Connection], query: Query
) -> None:
    drawn = [query.draw(seed, SCALE) for seed in SEEDS]
    for parameters in [query.validation(SCALE), *drawn]:
        neutral = query.text(parameters)
        expected, answer = (
            session.execute(target.sql("tpch", query.name, neutral))
            for target, session in zip(both, sessions, strict=True)
        )
        assert answer.columns == list(query.columns)
        assert compare_engines(expected.rows, answer.rows, query.rules) == [], parameters
        assert out_of_order(query, answer.rows) is None


def test_rows_refer_to_each_other(both: tuple[Target, Target]) -> None:
    _, clickhouse = both
    loaded = Loaded(SCALE, 1, complete=True)
    checks = TPCH.check("clickhouse", lambda: clickhouse.connect("tpch"), loaded, "load")
    assert [check.name for check in checks if not check.passed] == []
    with closing(clickhouse.connect("tpch")) as session:
        session.execute("DELETE FROM region WHERE r_name = 'ASIA'")
        checks = TPCH.check("clickhouse", lambda: clickhouse.connect("tpch"), loaded, "load")
        failed = {check.name for check in checks if not check.passed}
        session.execute("INSERT INTO region VALUES (2, 'ASIA', '')")
    assert failed == {"rows of region", "every nation has a region", "content of region"}


# What happened to the data, what undoes it, and the conditions that it violates.
VIOLATIONS = {
    "nothing": ("SELECT 1", "SELECT 1", set[int]()),
    "district total off by a cent": (
        "ALTER TABLE district UPDATE d_ytd = d_ytd + toDecimal64('0.01', 2) WHERE d_id = 1",
        "ALTER TABLE district UPDATE d_ytd = d_ytd - toDecimal64('0.01', 2) WHERE d_id = 1",
        {1, 9},
    ),
    "new order lost between others": (
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 2500",
        "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 1, 2500)",
        {3, 5, 11},
    ),
    "order not delivered": (
        "ALTER TABLE orders UPDATE o_carrier_id = NULL WHERE o_d_id = 1 AND o_id = 7",
        "ALTER TABLE orders UPDATE o_carrier_id = 1 WHERE o_d_id = 1 AND o_id = 7",
        {5, 7},
    ),
    "customer paid a cent more": (
        "ALTER TABLE customer UPDATE c_ytd_payment = c_ytd_payment + toDecimal64('0.01', 2) "
        "WHERE c_d_id = 1 AND c_id = 3",
        "ALTER TABLE customer UPDATE c_ytd_payment = c_ytd_payment - toDecimal64('0.01', 2) "
        "WHERE c_d_id = 1 AND c_id = 3",
        {12},
    ),
    "line taken from the stock not counted": (
        "ALTER TABLE stock UPDATE s_order_cnt = s_order_cnt - 1 WHERE s_i_id = 5",
        "ALTER TABLE stock UPDATE s_order_cnt = s_order_cnt + 1 WHERE s_i_id = 5",
        {13},
    ),
}


@pytest.mark.parametrize("case", VIOLATIONS)
def test_conditions_find_their_violations(both: tuple[Target, Target], case: str) -> None:
    harm, undo, expected = VIOLATIONS[case]
    with closing(both[1].connect("tpcc")) as session:
        session.execute("SET mutations_sync = 1")
        session.execute(harm)
        try:
            checks = check_conditions("clickhouse", session, "load")
        finally:
            session.execute(undo)
    assert {check.name for check in checks if not check.passed} == {
        f"condition {number}" for number in expected
    }

"""Analysis of the order entry: one set of tables for two workloads, and its shipped answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from dyno import _core, targets, workloads
from dyno.contracts import databases, schema
from dyno.contracts.maintenance import prepare
from dyno.contracts.target import Limits, Loaded, LoadPlan, Target
from dyno.errors import UsageError
from dyno.targets import mark
from dyno.targets.sqlite.units import in_values
from dyno.workloads.answers import compare_expected
from dyno.workloads.ch import WORKLOAD
from dyno.workloads.ch.expected import SHIPPED, changed
from dyno.workloads.ch.queries import QUERIES

LOADED = Loaded(1.0, 1, complete=True)
by_query = pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)


def unreported(done: int, total: int, text: str) -> None:
    """Progress that nobody watches."""


@pytest.fixture(scope="module")
def duckdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """DuckDB with one warehouse, and the tables that queries need besides."""
    limits = Limits(memory_bytes=1 << 30, threads=2)
    url = targets.parse("embedded:duckdb")
    with targets.open_target(url, tmp_path_factory.mktemp("duckdb"), limits) as target:
        for name in ("tpcc", "ch"):
            target.create_tables(name, replace=False)
            target.load(LoadPlan(name, LOADED.scale, LOADED.seed, 2), _core.Control())
            target.index(name, threading.Event(), unreported)
            target.mark(name, LOADED)
        yield target


def test_its_tables_are_next_to_those_of_its_home() -> None:
    assert databases.home_of("ch@3") == "tpcc@3"
    assert databases.home_of("tpch") == "tpch"
    assert databases.home_of("own_mine") == "own_mine"
    assert mark.schema_of("ch@2") == mark.schema_of("tpcc@2") == "dyno_tpcc_2"
    assert mark.schema_mark("ch") == mark.schema_mark("tpcc")
    owners = [(owner, table["name"]) for owner, table in schema.visible("ch")]
    assert len(owners) == len({name for _, name in owners}) == 12
    assert {name for owner, name in owners if owner == "ch"} == {"region", "nation", "supplier"}


def test_maintenance_is_of_all_tables_that_its_queries_read(duckdb: Target) -> None:
    with closing(prepare(duckdb, "ch", "integrity-check")) as job:
        checks = job.run(threading.Event(), unreported)
    assert len(checks) == 12
    assert all(check.passed for check in checks)


def test_schemas_hold_both() -> None:
    found = databases.in_schemas(workloads.names(), ["dyno_tpcc_2", "dyno_ch", "dyno_tpch"])
    assert found == ["ch@2", "tpcc@2", "tpch"]


@pytest.mark.parametrize("scale", [0, 0.5, 21_475, 1e9])
def test_absurd_scales_are_refused(scale: float) -> None:
    with pytest.raises(UsageError):
        WORKLOAD.parse_scale(scale)


def test_the_largest_product_fits_into_32_bits() -> None:
    assert WORKLOAD.parse_scale(21_474) * 100_000 < 2**31


@by_query
@pytest.mark.parametrize("seed", range(5))
def test_drawn_parameters_fill_every_place(query: Any, seed: int) -> None:
    values = query.draw(seed, 2.0)
    assert set(values) == set(query.defaults) == set(query.validation(2.0))
    assert values == query.draw(seed, 2.0)
    tree = sqlglot.parse_one(query.text(values), read="postgres")
    assert isinstance(tree, exp.Query)
    assert tuple(tree.named_selects) == query.columns


def test_amounts_in_units_are_values_in_queries() -> None:
    tree = sqlglot.parse_one("SELECT SUM(ol_amount) FROM order_line WHERE ol_quantity < 7")
    found = in_values(tree, "ch").sql()
    assert found == "SELECT SUM((ol_amount / 100.0)) FROM order_line WHERE ol_quantity < 7"
    assert "/" not in in_values(tree.copy(), "tpch").sql().replace("/ 100.0", "")


@pytest.mark.parametrize("scale", SHIPPED.scales)
def test_files_say_how_they_were_made_and_hold_every_query(scale: float) -> None:
    content = SHIPPED.read(scale)
    assert {"postgresql", "duckdb"} <= set(content["about"]["engines"])
    assert content["about"]["seed"] == WORKLOAD.expected_seed
    assert set(content["answers"]) == {query.name for query in QUERIES}
    assert SHIPPED.path(scale).stat().st_size < 100_000
    for query in QUERIES:
        asked = json.loads(json.dumps(query.validation(scale)))
        assert content["answers"][query.name]["parameters"] == asked
        assert content["answers"][query.name]["rows"], query.name


@by_query
def test_an_engine_answers_as_expected(query: Any, duckdb: Target) -> None:
    with closing(duckdb.connect("ch")) as session:
        text = query.text(query.validation(1.0))
        rows = session.execute(duckdb.sql("ch", query.name, text)).rows
        drawn = session.execute(duckdb.sql("ch", query.name, query.text(query.draw(7, 1.0))))
    answer = WORKLOAD.expected(query, 1.0)
    assert answer is not None
    assert compare_expected(rows, answer, query.rules) == []
    assert compare_expected(rows[1:], answer, query.rules)
    assert len(drawn.columns) == len(query.columns)


def test_the_checks_pass_and_find_a_lost_supplier(duckdb: Target) -> None:
    def failed() -> set[str]:
        found = WORKLOAD.check("duckdb", lambda: duckdb.connect("ch"), LOADED, "run")
        return {check.name for check in found if check.passed is not True}

    assert failed() == set()
    with closing(duckdb.connect("ch")) as session:
        session.execute("CREATE TABLE kept AS SELECT * FROM supplier WHERE su_suppkey = 17")
        session.execute("DELETE FROM supplier WHERE su_suppkey = 17")
        try:
            assert failed() == {
                "rows of supplier", "content of supplier", "every stock has a supplier",
            }  # fmt: skip
        finally:
            session.execute("INSERT INTO supplier FROM kept")
            session.execute("DROP TABLE kept")
    assert failed() == set()


@pytest.mark.parametrize(
    "done",
    [
        "INSERT INTO history SELECT * FROM history LIMIT 1",
        "DELETE FROM new_order WHERE no_d_id = 1 AND no_o_id = 2101",
        "INSERT INTO orders SELECT o_id + 3000, o_d_id, o_w_id, o_c_id, o_entry_d, NULL, o_ol_cnt, "
        "o_all_local FROM orders WHERE o_d_id = 1 AND o_id = 1",
    ],
    ids=["payment", "delivery", "new-order"],
)
def test_what_transactions_change_is_noticed(duckdb: Target, done: str) -> None:
    with closing(duckdb.connect("ch")) as session:
        assert changed(session, LOADED) is None
        session.execute("BEGIN")
        try:
            session.execute(done)
            reason = changed(session, LOADED)
        finally:
            session.execute("ROLLBACK")
    assert reason is not None
    assert "transactions changed the data" in reason

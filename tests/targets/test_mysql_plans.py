"""Plans of MariaDB: of every query, and of one that was run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from dyno import workloads
from dyno.errors import DatabaseError
from dyno.targets.mysql.index import analyze_steps, execute
from dyno.targets.mysql.plans import _plan, explain
from dyno.targets.mysql.target import MysqlTarget
from dyno.targets.mysql.version import Version
from tests.maintained import fill
from tests.targets.conftest import embedded_mariadb


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    with embedded_mariadb(tmp_path_factory.mktemp("plans")) as target:
        fill(target)
        yield target


def test_every_query_has_a_plan_as_text_and_as_data(mariadb: MysqlTarget) -> None:
    with closing(mariadb.connect("tpch")) as session:
        for query in workloads.get("tpch").queries:
            sql = mariadb.sql("tpch", query.name, query.text(query.validation(0.01)))
            plan = mariadb.explain(session, sql, analyse=False)
            assert "rows estimated" in plan.text, query.name
            assert "seen" not in plan.text
            assert json.dumps(plan.tree)


def test_an_empty_table_gets_no_statistics_that_stay(mariadb: MysqlTarget) -> None:
    """MariaDB would take it for empty until the next ANALYZE, and scan it in every plan."""
    table = {"name": "empty", "columns": [{"name": "a", "prose": False}]}
    with closing(mariadb.connect("tpch")) as session:
        session.execute("CREATE TABLE empty (a INT PRIMARY KEY)")
        ((place, version),) = session.execute("SELECT DATABASE(), VERSION()").rows
        (step,) = analyze_steps(str(place), [table], Version.parse(str(version)))
        known = "SELECT table_name FROM mysql.table_stats WHERE db_name = DATABASE()"
        for rows in (0, 1):
            execute(session, step, step.statement)
            assert ("empty" in {row[0] for row in session.execute(known).rows}) is (rows > 0)
            session.execute("INSERT IGNORE INTO empty VALUES (1)")
        session.execute("DROP TABLE empty")


def test_an_analysed_plan_says_what_happened(mariadb: MysqlTarget) -> None:
    sql = "SELECT count(*) FROM lineitem JOIN orders ON o_orderkey = l_orderkey;\n"
    with closing(mariadb.connect("tpch")) as session:
        plan = mariadb.explain(session, sql, analyse=True)
    lines = plan.text.splitlines()
    assert any("orders: " in line and "15,000 seen" in line for line in lines), plan.text
    assert any("lineitem: " in line and " by " in line for line in lines), plan.text
    assert " ms" in lines[0]
    assert "└─ " in plan.text


def test_a_document_of_mysql_is_read_too() -> None:
    table = {"table_name": "t", "access_type": "ALL", "rows_examined_per_scan": 1200}
    sorted_ = {"ordering_operation": {"using_filesort": True, "nested_loop": [{"table": table}]}}
    plan = _plan({"query_block": {"select_id": 1, **sorted_}})
    assert plan.text.splitlines() == [
        "query block",
        "└─ ordering operation",
        "   └─ nested loop",
        "      └─ t: ALL · 1,200 rows estimated",
    ]


def test_the_second_form_of_a_document_of_mysql_is_read_too() -> None:
    scan = {"operation": "Table scan on t", "access_type": "table", "estimated_rows": 1200.4}
    row = {"operation": "Constant row", "heading": "Select #2", "inputs": []}
    root = {"operation": "Sort: n", "inputs": [scan], "inputs_from_select_list": [row]}
    plan = _plan({"query_type": "select", "query_plan": root, "json_schema_version": "2.0"})
    assert plan.text.splitlines() == [
        "query plan",
        "└─ Sort: n",
        "   └─ Table scan on t · 1,200 rows estimated",
        "   └─ Select #2: Constant row",
    ]


def test_a_mysql_without_actual_rows_says_so() -> None:
    old: Any = SimpleNamespace(version=Version("MySQL", (8, 0, 12)))
    with pytest.raises(
        DatabaseError, match=r"MySQL 8\.0\.12 does not report .* 8\.0\.18 and newer"
    ):
        explain(old, "SELECT 1", analyse=True)

"""Plans of SQLite: of every query, as text and as data; with what running one did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from dyno import targets, workloads
from dyno.contracts.plans import Explains
from dyno.errors import DatabaseError
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.target import SqliteTarget
from tests.maintained import fill
from tests.targets.conftest import LIMITS


@pytest.fixture(scope="module")
def lite(tmp_path_factory: Any) -> Iterator[SqliteTarget]:
    url = targets.parse("embedded:sqlite")
    with targets.open_target(url, tmp_path_factory.mktemp("lite"), LIMITS) as target:
        assert isinstance(target, SqliteTarget)
        fill(target)
        yield target


def test_every_query_has_a_plan_and_its_joins_go_by_keys(lite: SqliteTarget) -> None:
    assert isinstance(lite, Explains)
    with closing(lite.connect("tpch")) as session:
        for query in workloads.get("tpch").queries:
            sql = lite.sql("tpch", query.name, query.text(query.validation(0.01)))
            plan = lite.explain(session, sql, analyse=False)
            assert "└─ " in plan.text
            details = [step["detail"] for step in json.loads(json.dumps(plan.tree))["steps"]]
            assert details
            assert all(detail in plan.text for detail in details)
            assert " ms" not in plan.text
            # The plan that is kept is the one that was asked for.
            if query.name == "q08":
                assert details[0] == "SCAN part"
                assert details[1].startswith("SEARCH lineitem")


def test_the_plan_of_an_analysed_query_has_its_actual_rows(lite: SqliteTarget) -> None:
    nested = "SELECT n_name FROM nation WHERE n_regionkey = (SELECT max(r_regionkey) FROM region)"
    with closing(lite.connect("tpch")) as session:
        found = lite.explain(session, nested + ";\n", analyse=True)
    first = found.text.splitlines()[0]
    assert first.startswith("5 rows · ")
    assert first.endswith(" ms")
    assert found.tree["happened"]["rows"] == 5
    assert "\n   └─ SEARCH region" in found.text  # the work of a subquery is below it


def test_errors_are_classed_and_the_session_goes_on(lite: SqliteTarget) -> None:
    with closing(lite.connect("tpch")) as session:
        assert isinstance(session, SqliteConnection)
        session.execute("CREATE TEMP TABLE one AS SELECT 1 AS x")
        with pytest.raises(DatabaseError, match="no such column"):
            lite.explain(session, "SELECT y FROM one", analyse=True)
        with pytest.raises(DatabaseError, match="overflow"):
            lite.explain(session, "SELECT abs(-9223372036854775807 - x) FROM one", analyse=True)
        assert session.execute("SELECT x FROM one").rows == [(1,)]

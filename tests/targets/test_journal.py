"""The journal of a load: what goes on, what is refused, and that nobody's table is touched."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.contracts.target import Loaded, LoadPlan, Unfinished
from dyno.errors import UsageError
from dyno.stages import resume
from dyno.targets import journal
from dyno.targets.duckdb import load as duckdb_load
from tests.mariadb import require_mariadb
from tests.targets.conftest import LIMITS

core = pytest.importorskip("dyno._core")

PLAN = LoadPlan("tpch", 0.01, 1, 2)
HEAD = 'dyno:tpch journal {"scale": 0.01, "seed": 1, "streams": 2}'
TABLE = f"dyno_tpch.{journal.TABLE}"


@pytest.fixture(scope="module")
def mysql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A private MariaDB."""
    require_mariadb()
    out = tmp_path_factory.mktemp("my")
    with targets.open_target(targets.parse("embedded:mysql"), out, LIMITS) as opened:
        yield opened


@pytest.fixture(params=["postgresql", "duckdb", "mysql"])
def target(request: pytest.FixtureRequest, out: Path) -> Iterator[Any]:
    """A target with empty tables."""
    if request.param == "postgresql":
        postgres = request.getfixturevalue("empty_postgres")
        postgres.create_tables("tpch", replace=True)
        yield postgres
        return
    if request.param == "mysql":
        opened = request.getfixturevalue("mysql")
        execute(opened, "DROP DATABASE IF EXISTS dyno_tpch")
        opened.create_tables("tpch", replace=True)
        yield opened
        return
    with targets.open_target(targets.parse("embedded:duckdb"), out, LIMITS) as opened:
        opened.create_tables("tpch", replace=True)
        yield opened


def execute(target: Any, sql: str) -> list[Any]:
    session = target.connect()
    try:
        return session.execute(sql).rows
    finally:
        session.close()


def going_on(plan: LoadPlan = PLAN) -> LoadPlan:
    return LoadPlan(plan.workload, plan.scale, plan.seed, plan.streams, resume=True)


def test_a_journal_is_read_and_what_is_none_is_not() -> None:
    done = [("orders", 2, 3, 7), ("part", 1, 1, 5)]
    found = journal.unfinished(HEAD, "tpch", done)
    assert found is not None
    assert found[0] == Unfinished(0.01, 1, 2, parts=2, rows=12)
    assert found[1][0] == journal.Done("orders", 2, 3, 7)
    for text in [None, "", "mine", HEAD.replace("tpch", "tpcc"), "dyno:tpch journal {", HEAD[:30]]:
        assert journal.unfinished(text, "tpch", done) is None


def test_a_journal_names_the_tables_of_a_workload_file() -> None:
    plan = LoadPlan("own_shop", 1, 1, 2, tables="0123456789abcdef")
    found = journal.unfinished(journal.comment(plan), "own_shop", [])
    assert found is not None
    assert found[0].tables == plan.tables


def test_a_load_without_some_parts_loads_just_those(target: Any) -> None:
    target.mark("tpch", Loaded(0.01, 1, complete=False))
    whole = target.load(PLAN, core.Control())
    parts = execute(target, f"SELECT COUNT(*), SUM(part_rows) FROM {TABLE}")[0]
    assert parts[1] == whole.rows
    # As if the load had been cut off before these tables.
    execute(target, "DELETE FROM dyno_tpch.orders")
    execute(target, "DELETE FROM dyno_tpch.region")
    execute(target, f"DELETE FROM {TABLE} WHERE part_table IN ('orders', 'region')")
    found = resume.require(target, going_on())
    assert found.rows == whole.rows - 15_005
    rest = target.load(going_on(), core.Control())
    assert rest.rows == 15_005
    assert execute(target, "SELECT COUNT(*) FROM dyno_tpch.orders")[0][0] == 15_000
    assert execute(target, f"SELECT COUNT(*), SUM(part_rows) FROM {TABLE}")[0] == parts
    # All in, and only the mark was missing: nothing is loaded again.
    assert target.load(going_on(), core.Control()).rows == 0
    target.mark("tpch", Loaded(0.01, 1, complete=True))
    assert target.unfinished("tpch") is None
    with pytest.raises(UsageError, match="nothing to resume"):
        resume.require(target, going_on())


def test_other_data_is_refused_and_an_unfinished_load_is_named(target: Any) -> None:
    target.mark("tpch", Loaded(0.01, 1, complete=False))
    with pytest.raises(UsageError, match="no unfinished load"):
        resume.require(target, going_on())
    resume.refuse_unfinished(target, "tpch")
    target.load(PLAN, core.Control())
    for plan, reason in [
        (LoadPlan("tpch", 0.02, 1, 2), r"scale 0\.01, not 0\.02"),
        (LoadPlan("tpch", 0.01, 3, 2), "seed 1, not 3"),
        (LoadPlan("tpch", 0.01, 20240601, 2), "seed 1, not 20240601"),
    ]:
        with pytest.raises(UsageError, match=reason):
            resume.require(target, going_on(plan))
    with pytest.raises(UsageError, match="--resume to continue, or --replace"):
        resume.refuse_unfinished(target, "tpch")
    execute(target, f"UPDATE {TABLE} SET parts = 99 WHERE part_table = 'lineitem'")
    with pytest.raises(Exception, match="used other parts"):
        target.load(going_on(), core.Control())
    target.create_tables("tpch", replace=True)
    assert target.unfinished("tpch") is None


@pytest.mark.parametrize("target", ["postgresql", "mysql"], indirect=True)
def test_several_databases_go_on_each_by_its_own_journal(target: Any) -> None:
    names = ["tpch", "tpch@2", "tpch@3", "tpch@4"]
    for name in names[1:]:
        target.create_tables(name, replace=True)
    try:
        # Whole, cut off, cut off before the first row, and only made.
        target.mark("tpch", Loaded(0.01, 1, complete=True))
        own = dataclasses.replace(PLAN, workload="tpch@2")
        target.mark("tpch@2", Loaded(0.01, 1, complete=False))
        target.load(own, core.Control())
        execute(target, "DELETE FROM dyno_tpch_2.orders")
        execute(target, f"DELETE FROM dyno_tpch_2.{journal.TABLE} WHERE part_table = 'orders'")
        target.mark("tpch@3", Loaded(0.01, 1, complete=False))
        left = resume.rest(target, PLAN, names)
        assert left.whole == ("tpch",)
        assert [(one.workload, one.resume) for one in left.plans] == [
            ("tpch@2", True), ("tpch@3", False), ("tpch@4", False)
        ]  # fmt: skip
        assert target.load(left.plans[0], core.Control()).rows == 15_000
        with pytest.raises(UsageError, match=r"Database 1 of tpch .* complete, has seed 1, not 3"):
            resume.rest(target, dataclasses.replace(PLAN, seed=3), names)
        with pytest.raises(UsageError, match=r"load of database 2 of tpch in .* has scale 0\.01"):
            resume.rest(target, dataclasses.replace(PLAN, scale=0.02), names[1:])
        # What is about to be replaced is no longer taken for whole.
        resume.forget_whole(target, names[:1])
        assert resume.rest(target, PLAN, names).whole == ()
        for name in names:
            target.mark(name, Loaded(0.01, 1, complete=True))
        with pytest.raises(UsageError, match=r"4 databases of tpch at scale 0\.01, whole"):
            resume.rest(target, PLAN, names)
    finally:
        for schema in ("dyno_tpch_2", "dyno_tpch_3", "dyno_tpch_4", "dyno_tpch"):
            cascade = " CASCADE" if target.name == "postgresql" else ""
            execute(target, f"DROP SCHEMA {schema}{cascade}")
    with pytest.raises(UsageError, match="no unfinished load"):
        resume.rest(target, PLAN, names)


def test_a_table_of_that_name_that_is_not_dynos_stays(target: Any) -> None:
    execute(target, f"CREATE TABLE {TABLE} (mine INTEGER)")
    assert target.unfinished("tpch") is None
    with pytest.raises(UsageError, match="not created by Dyno"):
        target.load(PLAN, core.Control())
    target.create_tables("tpch", replace=True)
    target.mark("tpch", Loaded(0.01, 1, complete=True))
    assert execute(target, f"SELECT COUNT(*) FROM {TABLE}")[0][0] == 0
    execute(target, f"DROP TABLE {TABLE}")


def test_large_tables_go_into_duckdb_by_parts(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_load, "PART_ROWS", 10_000)
    with targets.open_target(targets.parse("embedded:duckdb"), out, LIMITS) as target:
        target.create_tables("tpch", replace=False)
        outcome = target.load(PLAN, core.Control())
        cut = execute(
            target,
            "SELECT COUNT(*), MAX(parts), SUM(part_rows) "
            f"FROM {TABLE} WHERE part_table = 'lineitem'",
        )
        assert cut == [(7, 7, 60_175)]
        keys = "SELECT COUNT(DISTINCT (l_orderkey, l_linenumber)) FROM dyno_tpch.lineitem"
        assert execute(target, keys) == [(60_175,)]
        assert outcome.rows == execute(target, f"SELECT SUM(part_rows) FROM {TABLE}")[0][0]

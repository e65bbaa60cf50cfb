"""The whole way on a server that speaks SQL Server's protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.target import Limits
from dyno.targets.sqlserver import database
from dyno.targets.sqlserver.sliding import SqlServerWindow
from dyno.targets.sqlserver.target import SqlServerTarget
from dyno.targets.window import WINDOW, slice_name
from tests.babelfish import alone, patient
from tests.process import assert_valid, document, dyno

SHORT = ("unsteady", "client-bound")
"""Reasons against a run of a few seconds on a small machine."""
LIMITS = Limits(memory_bytes=1 << 30, threads=2)


def target_of(url: str, out: Path) -> SqlServerTarget:
    opened = targets.open_target(targets.parse(url), out, LIMITS)
    assert isinstance(opened, SqlServerTarget)
    return opened


@pytest.fixture
def url(out: Path) -> Iterator[str]:
    """A server that no other test uses, without data of Dyno's before and after."""
    with alone() as url:
        target = target_of(url, out)
        target.remove()
        yield url
        target.remove()


@pytest.mark.long
def test_queries(url: str, out: Path) -> None:
    where = ("--target", url, "--json", "--out", out)
    assert_valid(dyno("load", "tpch", "--scale", "0.01", "--streams", "2", *where))
    again = dyno("load", "tpch", "--scale", "0.01", *where)
    assert again.returncode == 2
    assert "--replace" in again.stderr
    assert_valid(dyno("check", "tpch", "--answers", *where))
    run = assert_valid(dyno("run", "tpch", "--test", "full", *where), "unsteady")
    assert len(run["tpch"]["engines"]["sqlserver"]["queries"]) == 22
    removed = document(dyno("clean", "--yes", *where))["removed"]
    assert len(removed) == 9
    assert removed[-1] == "database dyno_tpch"


@pytest.mark.long
def test_transactions(url: str, out: Path) -> None:
    where = ("--target", url, "--json", "--out", out)
    assert_valid(dyno("load", "tpcc", "--scale", "1", "--streams", "2", *where))
    # Each session of Babelfish compiles a procedure at its first call, for seconds.
    driven = ("--users", "4", "--warmup", "5s", "--duration", "3s")
    for mode in ("client", "procedure"):
        run = assert_valid(dyno("run", "tpcc", *driven, "--mode", mode, *where), *SHORT)
        (level,) = run["tpcc"]["levels"]
        assert (level["mode"], level["errors"]) == (mode, 0)
        assert level["new_orders_per_min"] > 0
    assert_valid(dyno("check", "tpcc", *where))
    removed = document(dyno("clean", "--yes", *where))["removed"]
    assert len([item for item in removed if item.startswith("procedure dyno_tpcc.")]) == 5
    assert len([item for item in removed if item.startswith("table dyno_tpcc.")]) == 9


@pytest.mark.long
@pytest.mark.parametrize("workload", ["brokerage", "ch"])
def test_other_workloads(url: str, out: Path, workload: str) -> None:
    where = ("--target", url, "--json", "--out", out)
    if workload == "ch":
        assert_valid(dyno("load", "tpcc", "--scale", "1", *where))
        assert_valid(dyno("run", "ch", *where), "unsteady")
        return
    assert_valid(dyno("load", workload, "--scale", "1", "--days", "1", *where))
    # Babelfish ignores UPDLOCK, so trades of several users at once may leave wrong holdings.
    driven = ("--users", "1", "--warmup", "500ms", "--duration", "3s")
    for mode in ("client", "procedure"):
        assert_valid(dyno("run", workload, *driven, "--mode", mode, *where), *SHORT, "other-mix")
    assert_valid(dyno("check", workload, *where))


@pytest.mark.long
def test_several_databases_and_isolation(url: str, out: Path) -> None:
    where = ("--target", patient(url), "--json", "--out", out)
    assert_valid(dyno("load", "tpcc", "--scale", "1", "--databases", "2", *where))
    driven = ("--users", "4", "--warmup", "500ms", "--duration", "2s", "--databases", "2")
    # A short window is hardly longer than the time between two connections of a busy machine.
    assert_valid(dyno("run", "tpcc", *driven, *where), *SHORT, "misaligned-windows")
    strict = ("--isolation", "--level", "serializable")
    assert_valid(dyno("check", "tpcc", *strict, *where))


@pytest.mark.long
def test_tables_of_others_stay(url: str, out: Path) -> None:
    where = ("--target", url, "--json", "--out", out)
    with closing(target_of(url, out).connect()) as session:
        session.execute("CREATE DATABASE dyno_tpch")
        try:
            session.execute("USE dyno_tpch")
            session.execute("CREATE TABLE dbo.[other's [table] (mine int)")
            for name, more in (("lineitem", ()), ("LineItem", ("--replace",))):
                session.execute(f"CREATE TABLE dbo.{name} (mine int)")
                done = dyno("load", "tpch", "--scale", "0.01", *more, *where)
                assert done.returncode == 2
                assert "(lineitem)" in done.stderr
                session.execute(f"DROP TABLE dbo.{name}")
            target = target_of(url, out)
            target.create_tables("tpch", replace=False)
            assert len(target.remove()) == 8  # without the database, which is not Dyno's
            found = session.execute("SELECT name FROM sys.tables").rows
            assert found == [("other's [table",)]
        finally:
            database.drop(session, "dyno_tpch")


class Window(SqlServerWindow):
    """The window without a view that Babelfish lacks."""

    def sizes(self) -> dict[str, int]:
        return {"lineitem": 1 << 20}


def test_a_window_that_a_killed_run_left_is_removed(url: str, out: Path) -> None:
    target = target_of(url, out)
    target.create_tables("tpch", replace=False)
    with closing(target.connect("tpch")) as session:
        own = Window(lambda: session, "tpch")
        assert own.obstacle() is None
        for name in (WINDOW, slice_name(1)):
            own._marked(name)
        own._rows = 1
        session.execute("CREATE TABLE dbo.counted (n int IDENTITY NOT NULL, m int)")
        session.execute("INSERT INTO dbo.counted (m) VALUES (7)")
        own.source = "counted"
        own._marked(slice_name(3))
        own.run_sql(own.copied(3))
        assert session.execute(f"SELECT * FROM {own.named(slice_name(3))}").rows == [(1, 7, 3)]
        session.execute("DROP TABLE dbo.counted")
        own.source = "lineitem"
        session.execute(f"SELECT 1 AS n INTO {own.named(slice_name(2))}")
        assert slice_name(2) in str(own.obstacle())
        own.clear()
        left = {str(row[0]) for row in session.execute("SELECT name FROM sys.tables").rows}
        assert {name for name in left if name.startswith(WINDOW)} == {slice_name(2)}
        session.execute(f"DROP TABLE {own.named(slice_name(2))}")
        own._marked(WINDOW)
    assert f"table dyno_tpch.{WINDOW}" in target.marked()
    assert target.remove()[-1] == "database dyno_tpch"


def test_the_report(url: str, out: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    done = dyno("doctor", url, "--report", file, "--out", out)
    assert done.returncode == 0, done.stderr
    text = file.read_text("utf-8")
    password = url.partition("://")[2].partition("@")[0].partition(":")[2]
    assert password
    assert password not in text
    assert "sys.dm_exec_sessions: ok" in text
    assert "CREATE ANY DATABASE" in text
    refused = dyno("doctor", url, "--report", file, "--out", out)
    assert refused.returncode == 2
    assert file.read_text("utf-8") == text


def test_no_report_on_other_targets(out: Path, tmp_path: Path) -> None:
    for subject in ("null:", "embedded:duckdb", str(tmp_path)):
        done = dyno("doctor", subject, "--report", tmp_path / "report.txt", "--out", out)
        assert done.returncode == 2
    assert not (tmp_path / "report.txt").exists()

"""Observation and maintenance on a server that speaks T-SQL but lacks SQL Server's views.

What is missing is said, with its view; nothing else breaks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from dyno import targets
from dyno.bundle.reader import Bundle
from dyno.contracts.maintenance import NAMES
from dyno.contracts.probe import UnavailableError
from dyno.contracts.target import Limits
from dyno.targets.sqlserver import database
from dyno.targets.sqlserver.connection import quoted
from dyno.targets.sqlserver.inside import relations, server_time, statements, views
from dyno.targets.sqlserver.target import SqlServerTarget
from tests.babelfish import alone
from tests.process import assert_valid, dyno

LIMITS = Limits(memory_bytes=1 << 30, threads=2)
MISSING = {
    "database": "sys.dm_os_performance_counters",
    "sessions": "sys.dm_exec_requests",
    "waits": "sys.dm_os_wait_stats",
    "files": "sys.dm_io_virtual_file_stats",
    "clerks": "sys.dm_os_memory_clerks",
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server that no other test uses."""
    with alone() as url:
        yield url


@pytest.fixture(scope="module")
def target(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlServerTarget]:
    opened = targets.open_target(targets.parse(url), tmp_path_factory.mktemp("out"), LIMITS)
    assert isinstance(opened, SqlServerTarget)
    if not opened.facts().version.startswith("Babelfish"):
        pytest.skip("the server has the views")
    with opened:
        yield opened


def test_probes_without_their_views_stop_with_the_reason(target: SqlServerTarget) -> None:
    probes = {probe.name: probe for probe in target.probes()}
    assert probes.keys() == {*MISSING, "clock"}
    for name, view in MISSING.items():
        with closing(probes[name]) as probe, pytest.raises(UnavailableError) as raised:
            for _ in range(12):  # the first readings leave the sessions to the users
                probe.read(0)
        assert view in str(raised.value)


def test_the_clock_of_the_server_is_read(target: SqlServerTarget) -> None:
    (probe,) = [one for one in target.probes() if one.name == "clock"]
    with closing(probe):
        found = {one.metric: one.value for one in probe.read(0)}
    # The server is on this machine: the offset is within its own bound, but for a rounding.
    assert abs(found["offset"]) <= found["bound"] + 0.001
    with closing(target.connect()) as session:
        first, second = server_time(session), server_time(session)
        assert 0 <= second - first < 60


def test_the_inspector_notes_what_is_missing(target: SqlServerTarget) -> None:
    inspector = target.inspector()
    assert inspector is not None
    with closing(inspector):
        inspector.begin()
        found = inspector.end()
    assert (found.statements, found.relations) == ([], [])
    (note,) = found.notes
    for view in (*MISSING.values(), statements.VIEW, relations.VIEW):
        assert view in note


def test_views_that_fail_do_not_break_the_session(target: SqlServerTarget) -> None:
    with closing(target.connect()) as session:
        known = views.Views()
        for view in (*MISSING.values(), "sys.databases"):
            rows = known.rows(session, view, f"{views.OWN}SELECT COUNT(*) FROM {view}")
            assert (rows is None) == (view != "sys.databases")
        (note,) = known.notes
        assert all(view in note for view in MISSING.values())


def test_metrics_of_a_query_have_a_reason(target: SqlServerTarget) -> None:
    with closing(target.connect()) as session:
        meter = target.meter(session)
        meter.before()
        session.execute("SELECT COUNT(*) FROM sys.objects")
        found = meter.after()
    assert (found.bytes_read, found.temp_bytes, found.peak_memory_bytes) == (None, None, None)
    assert all("sys.dm_" in source for source in found.sources.values())


@pytest.mark.parametrize("analyse", [False, True])
def test_a_plan_is_text(target: SqlServerTarget, *, analyse: bool) -> None:
    sql = "SELECT name FROM sys.databases WHERE name = 'master'"
    with closing(target.connect()) as session:
        plan = target.explain(session, sql, analyse=analyse)
        assert "cost=" in plan.text
        assert ("actual time=" in plan.text) == analyse
        # The session returns rows again, not plans.
        assert session.execute(sql).rows == [("master",)]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "sliding-window"])
def test_maintenance_is_refused_with_a_reason(target: SqlServerTarget, name: str) -> None:
    found = target.maintenance("tpcc", name)  # type: ignore[arg-type]
    assert isinstance(found, str)
    assert "abelfish" in found


def test_the_catalog_has_obstacles(target: SqlServerTarget) -> None:
    found = target.catalog()
    assert found.settings
    assert {"tables", "indexes", "uses", "counters"} >= found.obstacles.keys() >= {"uses"}


def test_the_server_does_not_say_where_its_files_are(target: SqlServerTarget) -> None:
    with target.told() as told:
        assert (told.data, told.places) == ("", {})
        assert told.notes
    assert target.storage() == {}


def test_stored_columns_of_a_table(target: SqlServerTarget) -> None:
    with closing(target.connect()) as session:
        session.execute("CREATE TABLE dyno_columns (a int NOT NULL PRIMARY KEY, b varchar(9))")
        try:
            session.execute("INSERT INTO dyno_columns VALUES (1, 'x'), (2, 'y')")
            with closing(target.column_reader()) as reader:
                a, b = reader.columns("[dbo].[dyno_columns]")
                assert (a.name, a.type, a.key, a.large) == ("a", "int", True, False)
                assert (b.name, b.key) == ("b", False)
                rows = reader.sample("[dbo].[dyno_columns]", ["a", "b"], 1)
                assert rows.num_rows == 1
                assert reader.changed("[dbo].[dyno_columns]") is None
                assert "abelfish" in reader.column_store()
        finally:
            session.execute("DROP TABLE dyno_columns")


def test_names_with_brackets_and_quotes(url: str, target: SqlServerTarget, tmp_path: Path) -> None:
    place, table, column = 'it\'s "my" [base', "the 'best' [\"table", "a [b] 'c' \"d\""
    if target.facts().version.startswith("Babelfish"):  # which cannot parse ]]
        column = column.replace("]", "")
    with closing(target.connect()) as session:
        session.execute(f"CREATE DATABASE {quoted(place)}")
        try:
            session.execute(f"USE {quoted(place)}")
            session.execute(
                f"CREATE TABLE {quoted(table)} ({quoted(column)} int NOT NULL PRIMARY KEY)"
            )
            session.execute(f"INSERT INTO {quoted(table)} VALUES (7)")
            there = url.replace("/master", f"/{quote(place, safe='')}")
            with targets.open_target(targets.parse(there), tmp_path, LIMITS) as other:
                assert isinstance(other, SqlServerTarget)
                assert other.marked() == []
                other.catalog()
                name = f"[dbo].{quoted(table)}"
                with closing(other.column_reader()) as reader:
                    (found,) = reader.columns(name)
                    assert (found.name, found.key) == (column, True)
                    assert reader.sample(name, [column], 1).to_pylist() == [{column: 7}]
        finally:
            database.drop(session, place)


@pytest.mark.long
def test_a_recording_notes_what_the_server_does_not_show(url: str, out: Path) -> None:
    run = assert_valid(dyno("watch", url, "--for", "12s", "--quiet", "--json", "--out", out))
    bundle = Bundle.open(Path(run["bundle"]))
    events = [json.loads(line) for line in (bundle.path / "events.jsonl").open() if line.strip()]
    reasons = {one["probe"]: one["reason"] for one in events if one["event"] == "probe-unavailable"}
    for name, view in MISSING.items():
        assert view in reasons[name]
    (note,) = bundle.run.targets["sqlserver"].inside_notes
    assert statements.VIEW in note
    assert "clock" in bundle.table("samples").column("source").to_pylist()

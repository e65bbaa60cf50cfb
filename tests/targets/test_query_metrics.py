"""Engines' metrics of a query, with their source or a reason; and plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dyno import targets, workloads
from dyno.bundle.tables import Table, read_table
from dyno.contracts import plans
from dyno.contracts.meter import METRICS, QueryMeter
from dyno.contracts.plans import Explains
from dyno.contracts.target import Connection, Target
from dyno.errors import DatabaseError, UsageError
from tests.maintained import fill
from tests.process import wait_until
from tests.targets.conftest import LIMITS

SORT = (
    "SELECT count(*) FROM "
    "(SELECT l_comment FROM lineitem ORDER BY l_comment, l_orderkey OFFSET 9) s"
)


@pytest.fixture(scope="module", params=["postgresql", "duckdb"])
def target(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Target]:
    url = targets.parse(f"embedded:{request.param}")
    with targets.open_target(url, tmp_path_factory.mktemp(request.param), LIMITS) as found:
        fill(found)
        yield found


def settled(target: Target, session: Connection, others: int = 0) -> None:
    """Waits until sessions that were closed before are gone: PostgreSQL's meter minds others."""
    if target.name == "postgresql":
        there = (
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        wait_until(lambda: session.execute(there).rows == [(others,)], "other sessions to end")


def sources(columns: dict[str, Any]) -> dict[str, str]:
    return json.loads(columns["meter"])


@pytest.mark.long
def test_a_query_that_spills_says_so_and_one_that_does_not_says_zero(target: Target) -> None:
    with closing(target.connect("tpch")) as session:
        settled(target, session)
        if target.name == "postgresql":
            session.execute("SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 0")
            statement = SORT
        else:
            session.execute("SET memory_limit = '24MB'")
            statement = (
                "SELECT max(x) FROM (SELECT l_comment || p_name x, l_orderkey FROM lineitem "
                "JOIN part ON p_partkey <= 6 ORDER BY x, l_orderkey OFFSET 10) s"
            )
        meter = QueryMeter(target, session)
        meter.before()
        session.execute(statement)
        spilled = meter.after()
        meter.before()
        session.execute("SELECT sum(n_nationkey) FROM nation")
        small = meter.after()
        if target.name == "duckdb":
            session.execute(f"SET memory_limit = '{LIMITS.memory_bytes}B'")
    assert spilled["temp_bytes"] > 1_000_000, spilled
    assert small["temp_bytes"] == 0, small
    assert small["bytes_read"] is not None
    assert set(sources(spilled)) == set(METRICS)
    if target.name == "postgresql":
        assert spilled["peak_memory_bytes"] is None
        assert "does not report" in sources(spilled)["peak_memory_bytes"]
    else:
        assert 0 < spilled["peak_memory_bytes"] <= 30_000_000


def test_what_another_session_may_have_caused_is_left_out(target: Target) -> None:
    with closing(target.connect("tpch")) as session, closing(target.connect("tpch")) as other:
        settled(target, session, others=1)
        meter = QueryMeter(target, session)
        meter.before()
        session.execute("SELECT sum(l_quantity) FROM lineitem")
        other.execute(SORT)
        found = meter.after()
        if target.name == "duckdb":  # its profile is of one query, whoever else works
            assert found["temp_bytes"] == 0
            return
        assert [found[name] for name in METRICS] == [None] * 3
        assert "other sessions were active" in sources(found)["bytes_read"]
        # An idle one does no harm.
        meter.before()
        session.execute("SELECT count(*) FROM lineitem")
        assert meter.after()["bytes_read"] is not None


def test_a_query_that_failed_has_no_metrics(target: Target) -> None:
    with closing(target.connect("tpch")) as session:
        settled(target, session)
        meter = QueryMeter(target, session)
        meter.before()
        with pytest.raises(DatabaseError):
            session.execute("SELECT nothing FROM nowhere")
        found = meter.after(failed=True)
        if target.name == "postgresql":
            # What happened until the failure is not the next query's.
            session.execute("SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 0")
            session.execute(SORT)
        meter.before()
        session.execute("SELECT sum(n_nationkey) FROM nation")
        assert meter.after()["temp_bytes"] == 0
    assert [found[name] for name in METRICS] == [None] * 3
    assert set(sources(found).values()) == {"the query did not finish"}


def test_metrics_that_nobody_asked_for_are_not_read(target: Target) -> None:
    with closing(target.connect("tpch")) as session:
        meter = QueryMeter(target, session, "never")
        meter.before()
        session.execute("SELECT count(*) FROM lineitem")
        found = meter.after()
        if target.name == "duckdb":
            (profiling,) = session.execute("SELECT current_setting('enable_profiling')").rows[0]
            assert not profiling
    assert [found[name] for name in METRICS] == [None] * 3
    assert set(sources(found).values()) == {"not requested (--no-query-figures)"}


def test_nothing_is_counted_while_a_query_is_timed_if_that_slows_it(target: Target) -> None:
    statement = "SELECT max(x) FROM (SELECT l_comment x FROM lineitem ORDER BY l_comment) s"

    def profiling(session: Connection) -> bool:
        if target.name != "duckdb":
            return False
        return bool(session.execute("SELECT current_setting('enable_profiling')").rows[0][0])

    with closing(target.connect("tpch")) as session:
        settled(target, session)
        meter = QueryMeter(target, session, "untimed")
        rows: list[dict[str, Any]] = []
        for timed in (False, True):
            meter.before(timed=timed)
            assert profiling(session) is (target.name == "duckdb" and not timed)
            session.execute(statement)
            rows.append(meter.after("q", timed=timed))
        warming, measured = rows
        meter.before()
        unknown = meter.after("another")
    assert warming["bytes_read"] is not None
    if target.name == "duckdb":
        assert measured["bytes_read"] is None
        assert measured["peak_memory_bytes"] == warming["peak_memory_bytes"] > 0
        assert "--query-figures" in sources(measured)["bytes_read"]
        assert "warm-up" in sources(measured)["peak_memory_bytes"]
        assert [unknown[name] for name in METRICS] == [None] * 3
    else:
        assert measured["bytes_read"] is not None
        assert "warm-up" not in measured["meter"]


def test_a_target_without_query_metrics_has_a_reason(tmp_path: Path) -> None:
    null = targets.open_target(targets.parse("null:"), tmp_path, LIMITS)
    meter = QueryMeter(null, None)  # pyright: ignore[reportArgumentType]
    meter.before()
    found = meter.after()
    assert found["bytes_read"] is None
    assert "does not read it from null" in found["meter"]


def test_a_target_without_plans_is_refused(tmp_path: Path) -> None:
    null = targets.open_target(targets.parse("null:"), tmp_path, LIMITS)
    with pytest.raises(UsageError, match="cannot read its plans"):
        plans.require(null)


def test_queries_of_earlier_bundles_are_still_read(tmp_path: Path) -> None:
    new = {*METRICS, "meter"}
    old = pa.schema([field for field in Table.QUERIES.schema() if field.name not in new])
    row = {field.name: [1 if field.type == pa.int64() else None] for field in old}
    pq.write_table(pa.table(row, schema=old), tmp_path / "queries.parquet")
    (read,) = read_table(tmp_path, "queries").to_pylist()
    assert read["stream"] == 1
    assert {read[name] for name in new} == {None}


def test_every_query_has_a_plan_as_text_and_as_data(target: Target) -> None:
    assert isinstance(target, Explains)
    with closing(target.connect("tpch")) as session:
        for query in workloads.get("tpch").queries:
            sql = target.sql("tpch", query.name, query.text(query.validation(0.01)))
            plan = target.explain(session, sql, analyse=False)
            assert "rows estimated" in plan.text
            assert json.dumps(plan.tree)
        sql = "SELECT count(*) FROM lineitem JOIN orders ON o_orderkey = l_orderkey"
        expected = target.explain(session, sql, analyse=False).text
        happened = target.explain(session, sql, analyse=True).text
    assert " ms" not in expected
    assert " ms" in happened
    assert "60,175 rows" in happened
    assert "lineitem" in happened.lower()
    assert "└─ " in happened

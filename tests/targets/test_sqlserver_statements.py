"""Statements and tables of SQL Server between two points in time, plans, and the meter."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.contracts.inspection import Inspection
from dyno.contracts.target import QueryResult
from dyno.errors import DatabaseError, DynoError
from dyno.targets.observers import Observers
from dyno.targets.sessionprobe import Asked
from dyno.targets.sqlserver import columns, meter, plans
from dyno.targets.sqlserver.inside import inspector, relations, statements, views
from dyno.targets.sqlserver.inside.statements import normalised
from dyno.targets.sqlserver.meter import SqlServerMeter
from tests.targets.sqlserver_recorded import (
    BABELFISH,
    Answer,
    Recorded,
    absent,
    denied,
    readings,
    rows,
)

TOP = [
    ("0x0200b2", 0, -1),
    ("0x0200a1", 0, -1),
    ("0x0200d4", 0, -1),
    ("0x0300c3", 40, 118),
]
"""The statements of the period by time, as their texts are asked for."""
DATABASES = statements.DATABASES.format(
    values="(0x0600b2), (0x0600a1), (0x0600a9), (0x0600d4), (0x0600c3)"
)


def values(chosen: list[tuple[str, int, int]]) -> str:
    return ", ".join(f"({at}, {h}, {s}, {e})" for at, (h, s, e) in enumerate(chosen))


def server(**changed: Any) -> Recorded:
    shown = [("0x0600b2", 0, -1), ("0x0600a1", 0, -1), ("0x0600c3", 40, 118)]
    answers: dict[str, list[Answer] | Answer] = {
        statements.COUNTS: list(readings("query_stats")),
        DATABASES: readings("plan_attributes")[0],
        statements.TEXTS.format(values=values(TOP)): readings("sql_text")[0],
        statements.PLANS.format(values=values(shown)): readings("query_plan")[0],
        relations.COUNTS: list(readings("index_operational_stats")),
        relations.USES: list(readings("index_usage_stats")),
        relations.NAMES.format(place="[dyno_tpcc]"): readings("index_names")[0],
        inspector.STARTED: readings("sys_info")[0],
        views._RIGHTS: rows((1, 1, 1, "dyno")),
    }
    return Recorded({**answers, **changed})


def inspected(session: Recorded) -> Inspection:
    found = inspector.SqlServerInspector(lambda: session)  # type: ignore[arg-type, return-value]
    found.begin()
    inspection = found.end()
    found.close()
    assert session.closed
    return inspection


def test_statements_of_a_period_are_added_up_by_query_hash() -> None:
    found = inspected(server())
    assert list(found.notes) == []
    slow, fast, stock = found.statements
    assert (slow.calls, slow.total_ms, slow.rows) == (1, 1700, 10)
    assert (slow.logical_reads, slow.physical_reads) == (45_000, 500)
    assert slow.temp_bytes == 320 * 8192
    assert (slow.statement, slow.database) == ("dyno_tpch:2222222222222222", "dyno_tpch")
    # 200 more of one plan, and 50 of a plan of the same query that is new.
    assert (fast.calls, fast.total_ms, fast.rows) == (250, 150, 250)
    assert (fast.min_ms, fast.max_ms) == (0.1, 2)
    assert fast.text == "SELECT c_first FROM customer WHERE c_id = ? AND c_last = ?"
    assert stock.statement == "dyno_tpcc:3333333333333333"
    # Dyno's own statement is not among them.
    assert not any("dm_os" in one.text for one in found.statements)


def test_the_same_query_in_two_databases_is_two_statements() -> None:
    plans = [(b"\x06\x00\xa1", "dyno_tpcc"), (b"\x06\x00\xa9", "dyno_tpcc_2")]
    top = [TOP[0], TOP[1], ("0x0200a9", 0, -1), *TOP[2:]]
    texts = rows((1, "SELECT 1 FROM t", 0), (2, "SELECT 1 FROM t", 0))
    session = server(
        **{DATABASES: rows(*plans), statements.TEXTS.format(values=values(top)): texts}
    )
    found = {one.database: one.calls for one in inspected(session).statements}
    assert found == {"dyno_tpcc": 200, "dyno_tpcc_2": 50}


def test_texts_have_no_literals() -> None:
    (slow, *_) = inspected(server()).statements
    assert slow.text == (
        "SELECT s_name, sum(l_quantity) FROM supplier JOIN lineitem ON s_suppkey = l_suppkey "
        "WHERE l_shipdate >= ? AND l_discount > ? GROUP BY s_name"
    )
    assert slow.plan is not None
    assert slow.plan.splitlines() == [
        "Sort · 100 rows estimated, 120 seen · 14 ms · spilled to tempdb",
        "└─ Hash Match (Inner Join) · 100 rows estimated, 120 seen · 11 ms",
        "   └─ Table Scan on supplier · 10 rows estimated",
        "   └─ Clustered Index Seek on lineitem by lineitem_clustered · 1,000,000 rows estimated",
    ]


def test_after_a_restart_counts_what_was_counted_since() -> None:
    session = server(**{inspector.STARTED: list(readings("sys_info"))})
    found = inspected(session)
    slow = next(one for one in found.statements if one.statement.endswith("2222"))
    assert slow.calls == 3
    stock = next(one for one in found.relations if one.relation == "dyno_tpcc.dbo.stock")
    assert stock.logical_reads == 1900


def test_tables_and_indexes_have_the_accesses_of_the_period() -> None:
    found = {one.relation: one for one in inspected(server()).relations}
    stock = found["dyno_tpcc.dbo.stock"]
    assert (stock.kind, stock.logical_reads, stock.writes) == ("table", 900, 300)
    assert (stock.read_ms, stock.bytes) == (60, 1000 * 8192)
    index = found["dyno_tpcc.dbo.stock.stock_item"]
    assert (index.kind, index.of_table, index.logical_reads) == ("index", stock.relation, 40)
    # Its counters fell, as the server had forgotten them: they began anew.
    assert found["dyno_tpcc.dbo.history"].logical_reads == 20
    assert len(found) == 5  # a table without a name is the server's own


def test_reads_of_a_column_store_are_the_queries_that_used_it() -> None:
    """The counters of accesses show its rows that are not compressed yet."""
    listed = inspected(server())
    assert listed.relations[0].relation == "dyno_tpcc.dbo.order_line"
    found = {one.relation: one for one in listed.relations}
    table = found["dyno_tpcc.dbo.order_line"]
    assert (table.kind, table.logical_reads, table.writes) == ("table", 5000, 50)
    index = found["dyno_tpcc.dbo.stock.stock_columns"]
    assert (index.kind, index.logical_reads, index.writes) == ("index", 25, 0)
    assert ("dbo", "order_line") in columns.most_read(listed, "dyno_tpcc")


@pytest.mark.parametrize("why", [absent, denied])
def test_reads_of_a_column_store_are_unknown_without_the_view_of_uses(why: Any) -> None:
    listed = inspected(server(**{relations.USES: why(relations.USES_VIEW)}))
    found = {one.relation: one for one in listed.relations}
    assert found["dyno_tpcc.dbo.order_line"].logical_reads is None
    assert found["dyno_tpcc.dbo.stock"].logical_reads == 900
    assert [note for note in listed.notes if relations.USES_VIEW in note]


def test_uses_that_fell_began_anew() -> None:
    session = server(**{relations.USES: [*reversed(readings("index_usage_stats"))]})
    found = {one.relation: one for one in inspected(session).relations}
    assert found["dyno_tpcc.dbo.order_line"].logical_reads == 500


@pytest.mark.parametrize("why", [absent, denied])
def test_what_cannot_be_read_is_noted(why: Any) -> None:
    found = inspected(server(**{statements.COUNTS: why(statements.VIEW)}))
    assert found.statements == []
    assert found.relations
    assert [note for note in found.notes if statements.VIEW in note]


def test_a_server_without_any_view_has_notes_only() -> None:
    found = inspected(Recorded({}))
    assert (found.statements, found.relations) == ([], [])
    (note,) = [note for note in found.notes if "HAS_PERMS_BY_NAME" not in note]
    for view in (statements.VIEW, relations.VIEW, inspector.STARTED_VIEW):
        assert view in note


def test_a_lost_session_is_opened_again() -> None:
    lost = DynoError("gone", kind="connection_lost")
    first, second = server(**{inspector.STARTED: lost}), server()
    sessions = [first, second]
    found = inspector.SqlServerInspector(lambda: sessions.pop(0))  # type: ignore[arg-type, return-value]
    found.begin()
    assert first.closed
    assert found.end().statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 'it''s', N'x', 0x1F, 1.5e3, -4 FROM t1", "SELECT ?, ?, ?, ?, -? FROM t1"),
        ("(@P1 decimal(10,2),@P2 int)UPDATE t SET a=@P1", "UPDATE t SET a=?"),
        ('SELECT [a 1], "b 2" /* 3 */ FROM #tmp1', 'SELECT [a 1], "b 2"   FROM #tmp1'),
        ("SELECT @@ROWCOUNT, @x WHERE a IN (1, 2)", "SELECT @@ROWCOUNT, ? WHERE a IN (?, ?)"),
        ("SELECT 'cut", "SELECT ?"),
        ("", ""),
    ],
)
def test_a_text_is_normalised(text: str, expected: str) -> None:
    assert normalised(text) == expected


@given(st.text(max_size=200))
def test_normalising_keeps_no_text_of_a_literal(secret: str) -> None:
    quoted = "N'secret" + secret.replace("'", "''") + "secret'"
    assert "secret" not in normalised(f"SELECT a FROM t WHERE b = {quoted} AND c = 1")


@given(st.text(max_size=300))
def test_normalising_takes_any_text(text: str) -> None:
    assert isinstance(normalised(text), str)


@pytest.mark.parametrize("document", ["", None, "<a", "<a/>", "<!DOCTYPE x><a/>", 5])
def test_what_is_no_plan_is_none(document: Any) -> None:
    assert plans.text_of(document) is None


def test_a_plan_is_asked_for_without_running_the_query() -> None:
    document = readings("query_plan")[0].rows[0][1]
    session = Recorded({"SELECT 1": rows([document]), "SET SHOWPLAN_XML ON": rows(),
                        "SET SHOWPLAN_XML OFF": rows()})  # fmt: skip
    found = plans.explain(session, "SELECT 1", analyse=False)  # type: ignore[arg-type]
    assert session.asked == ["SET SHOWPLAN_XML ON", "SELECT 1", "SET SHOWPLAN_XML OFF"]
    assert found.text.startswith("Sort")
    assert found.tree["xml"] == document


def test_an_actual_plan_and_one_of_babelfish() -> None:
    document = readings("query_plan")[0].rows[0][1]
    session = Recorded({"SELECT 1": rows([document]), "SET STATISTICS XML ON": rows(),
                        "SET STATISTICS XML OFF": rows()})  # fmt: skip
    plans.explain(session, "SELECT 1", analyse=True)  # type: ignore[arg-type]
    assert session.asked[0] == "SET STATISTICS XML ON"
    shown = QueryResult(["QUERY PLAN"], [("Query Text: select 1",), ("Result (cost=0)",)])
    other = Recorded({"SELECT 1": shown,
                      "SET BABELFISH_STATISTICS PROFILE ON": rows(),
                      "SET BABELFISH_STATISTICS PROFILE OFF": rows()}, BABELFISH)  # fmt: skip
    found = plans.explain(other, "SELECT 1", analyse=True)  # type: ignore[arg-type]
    assert found.text == "Query Text: select 1\nResult (cost=0)"


def test_a_session_that_still_shows_plans_is_closed() -> None:
    session = Recorded({"SET SHOWPLAN_XML ON": rows(), "SELECT 1": rows([""])})
    with pytest.raises(DynoError):
        plans.explain(session, "SELECT 1", analyse=False)  # type: ignore[arg-type]
    assert session.closed


def test_no_plan_is_an_error() -> None:
    session = Recorded({"SET SHOWPLAN_XML ON": rows(), "SELECT 1": rows(),
                        "SET SHOWPLAN_XML OFF": rows()})  # fmt: skip
    with pytest.raises(DatabaseError):
        plans.explain(session, "SELECT 1", analyse=False)  # type: ignore[arg-type]


NOW = "2026-11-26T10:00:00.123"
PLANS = meter.PLANS.format(since=f"CONVERT(datetime, N'{NOW}', 126)")


def metered(**changed: Any) -> Any:
    answers: dict[str, Any] = {
        "SELECT 1": rows([1]),
        meter.NOW: rows([NOW]),
        meter.READ: [rows([1_000_000]), rows([9_192_000])],
        meter.SPACE: [rows([100]), rows([164])],
        meter.RUNNING: rows([0]),
        # The query and nine statements of the meter: four readings twice, and this one.
        meter.BATCHES: [rows([7000]), rows([7010])],
        PLANS: rows([b"\x02\x00", 2048]),
    }
    session = Recorded({**answers, **changed})
    one = SqlServerMeter(session, Observers())  # type: ignore[arg-type]
    one.before()
    session.execute("SELECT 1")
    return one.after()


def test_a_query_alone_has_all_metrics() -> None:
    found = metered()
    assert (found.bytes_read, found.temp_bytes, found.peak_memory_bytes) == (
        8_192_000,
        64 * 8192,
        2 << 20,
    )


@pytest.mark.parametrize(
    "changed",
    [
        {PLANS: rows([b"\x02\x00", 2048], [b"\x02\x01", 64])},
        {meter.RUNNING: [rows([0]), rows([1])]},
        {meter.RUNNING: [rows([1]), rows([0])]},
        # A backup, or any other statement that the plan cache does not show.
        {meter.BATCHES: [rows([7000]), rows([7011])]},
    ],
)
def test_bytes_read_beside_other_statements_are_unknown(changed: dict[str, Any]) -> None:
    found = metered(**changed)
    assert found.bytes_read is None
    assert found.temp_bytes == 64 * 8192  # of this session alone
    assert (found.peak_memory_bytes is None) == (PLANS in changed)


def test_metrics_without_their_view_have_a_reason() -> None:
    for view, sql, name in (
        (meter.FILES_VIEW, meter.READ, "bytes_read"),
        (meter.SPACE_VIEW, meter.SPACE, "temp_bytes"),
        (meter.PLANS_VIEW, PLANS, "peak_memory_bytes"),
        (meter.BATCHES_VIEW, meter.BATCHES, "bytes_read"),
        (meter.RUNNING_VIEW, meter.RUNNING, "bytes_read"),
    ):
        found = metered(**{sql: absent(view)})
        assert getattr(found, name) is None
        assert view in found.sources[name]
    nothing = SqlServerMeter(Recorded({}), Observers())  # type: ignore[arg-type]
    nothing.before()
    found = nothing.after()
    assert (found.bytes_read, found.temp_bytes, found.peak_memory_bytes) == (None, None, None)
    assert all(found.sources.values())


def test_statements_of_probes_are_not_those_of_others() -> None:
    observers: Observers[Any] = Observers()
    probing = Recorded({"SELECT 2": rows([2])})

    def ask(session: Recorded, _now_ns: int) -> list[Any]:
        session.execute("SELECT 2")
        return []

    (probe,) = observers.probes(lambda: probing, {"p": Asked(lambda: ask)})
    answers: dict[str, Any] = {
        meter.NOW: rows([NOW]),
        meter.READ: [rows([0]), rows([8192])],
        meter.SPACE: rows([0]),
        meter.RUNNING: rows([0]),
        meter.BATCHES: [rows([7000]), rows([7011])],
        PLANS: rows(),
    }
    one = SqlServerMeter(Recorded(answers), observers)  # type: ignore[arg-type]
    one.before()
    probe.read(1)
    probe.read(2)
    assert one.after().bytes_read == 8192


def test_a_plan_that_is_not_kept_has_no_memory() -> None:
    found = metered(**{PLANS: rows()})
    assert found.peak_memory_bytes is None
    assert found.bytes_read == 8_192_000


def test_the_order_of_rows_does_not_matter() -> None:
    first, second = readings("query_stats")
    chance = random.Random(1)
    for reading in (first, second):
        chance.shuffle(reading.rows)
    again = inspected(server(**{statements.COUNTS: [first, second]}))
    assert [one.statement for one in again.statements] == [
        one.statement for one in inspected(server()).statements
    ]

"""What advice reads of a SQL Server, and where its files are."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from dyno.contracts.advice import ColumnFacts, TableFacts
from dyno.contracts.captured import captured
from dyno.contracts.partitioning import Cut, Stored
from dyno.decide.advise.columnstore.view import plain_name
from dyno.errors import TargetError
from dyno.targets.sqlserver import catalog, columns, stored_columns, volumes, whereabouts
from dyno.targets.sqlserver.histogram import Step, bounds, common, distinct
from dyno.targets.sqlserver.inside import inspector, relations, views
from dyno.targets.sqlserver.repartition import PARTITIONING
from dyno.targets.sqlserver.stored_columns import SqlServerColumns
from dyno.workloads.own.draft.draft import Ran, Together, draft
from tests.targets.sqlserver_recorded import Recorded, readings, rows

TABLE = "[dyno_tpcc].[dbo].[stock]"
COLUMNS = rows(
    ("dbo", "stock", "s_i_id", "int", 4, 10, 0, False),
    ("dbo", "stock", "s_dist", "nvarchar", 48, 0, 0, True),
    ("dbo", "stock", "s_ytd", "decimal", 9, 12, 2, True),
    ("dbo", "stock", "s_data", "varchar", -1, 0, 0, True),
)


def server(**changed: Any) -> Recorded:
    answers: dict[str, Any] = {
        "SELECT DB_NAME()": rows(["dyno_tpcc"]),
        catalog.TABLES: rows(
            ("dbo", "stock", 1000, 9000, 2, 0, "stock_pkey"),
            ("dbo", "hist]ory", 10, 5, 0, 1, None),
        ),
        catalog.INDEXES: rows(
            ("dbo", "stock", "stock_item", 2, False, "([s_ytd]>(0))", "s_i_id", True, False, 12, 7),
            ("dbo", "stock", "stock_item", 2, False, "([s_ytd]>(0))", "s_ytd", False, True, 12, 7),
            ("dbo", "stock", "stock_key", 2, True, None, "s_dist", False, False, None, None),
        ),
        catalog.COUNTERS: rows((3600, 3, 1_000_000, 2_000_000, 4_000_000, 0)),
        columns.COLUMNS: COLUMNS,
        columns.KEYS: rows(
            ("dbo", "stock", "stock_pkey", "s_i_id", True, 1, 1, 0),
            ("dbo", "stock", "stock_key", "s_dist", False, 0, 0, 1),
            ("dbo", "stock", "stock_key", "s_i_id", False, 0, 0, 0),
        ),
        columns.REFERRING: rows(("dbo", "stock", "dbo", "line", "line_to_stock_fkey")),
        columns.HISTOGRAM.format(table="N'[dbo].[stock]'"): readings("stats_histogram")[0],
        relations.COUNTS: readings("index_operational_stats")[0],
        relations.NAMES.format(place="[dyno_tpcc]"): readings("index_names")[0],
        inspector.STARTED: readings("sys_info")[0],
        views._RIGHTS: rows((1, 1, 1, "dyno")),
    }
    return Recorded({**answers, **changed})


def read(session: Recorded) -> Any:
    return catalog.read(session)  # type: ignore[arg-type]


def test_tables_have_the_names_of_relations() -> None:
    found = read(server())
    stock, history = found.tables
    assert stock.name == TABLE
    assert plain_name(stock.name) in {one.relation for one in found.uses.relations}
    assert plain_name(history.name) == "dyno_tpcc.dbo.hist]ory"
    assert (stock.bytes, stock.rows, stock.analysed) == (1000 * 8192, 9000, True)
    assert (stock.partition_of, history.partition_of) == ("", history.name)
    assert (stock.primary_key, stock.rows_in) == ("stock_pkey", "stock_pkey")
    assert stock.keys == {"stock_pkey": ("s_i_id",), "stock_key": ("s_dist", "s_i_id")}
    assert stock.stored == {
        "stock_pkey": Stored(clustered=True),
        "stock_key": Stored(constraint=False, special=True),
    }
    assert stock.foreign_keys == ("dbo.line.line_to_stock_fkey",)
    assert (history.keys, history.rows_in) == ({}, "")
    assert not history.analysed


CUT = Cut(
    TABLE,
    "s_day",
    ("'2024-01-01'",),
    2,
    {"stock_pkey": ("s_i_id", "s_day"), "stock_key": ("s_dist", "s_day")},
    ("stock_pkey",),
    primary="stock_pkey",
    stored={"stock_pkey": Stored(clustered=True), "stock_key": Stored()},
    rows_in="stock_pkey",
)


def test_a_key_that_has_the_column_keeps_its_constraint() -> None:
    found = PARTITIONING.commands(CUT)
    assert [one for one in found if "stock_key" in one] == [
        f"CREATE UNIQUE NONCLUSTERED INDEX [stock_key] ON {TABLE} ([s_dist], [s_day]) "
        "WITH (DROP_EXISTING = ON) ON [stock_partitions] ([s_day]);"
    ]
    wider = [one for one in found if "stock_pkey" in one]
    assert [one.split("CONSTRAINT ")[1].split(" (")[0] for one in wider] == [
        "[stock_pkey];",
        "[stock_pkey] PRIMARY KEY CLUSTERED",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nullable": True}, "NOT NULL"),
        ({"foreign_keys": ("dbo.line.line_to_stock_fkey",)}, "dbo.line.line_to_stock_fkey"),
        ({"rows_in": "by_day"}, "by_day"),
        ({"stored": {"stock_key": Stored(special=True)}}, "stock_key"),
    ],
)
def test_commands_that_the_server_would_refuse_are_not_printed(
    changes: dict[str, Any], words: str
) -> None:
    (line,) = PARTITIONING.commands(replace(CUT, **changes))
    assert line.startswith("-- no commands: ")
    assert words in line


def test_foreign_keys_and_nulls_do_not_matter_to_keys_that_have_the_column() -> None:
    cut = replace(CUT, widened=(), nullable=True, foreign_keys=("dbo.line.line_to_stock_fkey",))
    found = PARTITIONING.commands(cut)
    assert not [one for one in found if "CONSTRAINT" in one]
    assert len([one for one in found if "DROP_EXISTING = ON) ON" in one]) == 2


def test_columns_of_the_tables_that_are_read_most_have_a_histogram() -> None:
    (stock, _) = read(server()).tables
    item, dist, ytd, data = stock.columns
    assert [one.type for one in stock.columns] == [
        "int", "nvarchar(24)", "decimal(12,2)", "varchar(max)",
    ]  # fmt: skip
    assert (item.kind, dist.kind, ytd.kind, data.kind) == ("integer", "text", "decimal", "text")
    assert item.distinct == 0 + 1 + 400 + 1 + 390 + 1 + 90 + 1
    assert item.common == {"900": pytest.approx(2000 / 10940)}
    assert item.histogram[0] == "1"
    assert item.histogram[-1] == "1000"
    # Values of texts may be secrets.
    assert (dist.histogram, dist.common, dist.distinct) == ((), {}, 1)
    assert ytd.histogram == ()


def test_indexes_show_whether_they_are_used_and_needed() -> None:
    item, key = read(server()).indexes
    assert (item.name, item.table) == ("[stock_item]", TABLE)
    assert item.columns == ("[s_i_id] DESC", "INCLUDE [s_ytd]", "WHERE ([s_ytd]>(0))")
    assert (item.needed, item.scans, item.bytes) == (False, 12, 7 * 8192)
    assert (key.needed, key.scans) == (True, 0)


def test_counters_are_since_the_start() -> None:
    found = read(server()).counters
    assert found["counted_s"] == 3600
    assert found["huge_pages_used"] == 1
    assert (found["log_bytes"], found["temp_bytes"]) == (1_000_000, 2_000_000)
    assert found["databases_bytes"] == 4_000_000


def test_sums_over_hidden_files_are_unknown() -> None:
    changed: dict[str, Any] = {
        catalog.COUNTERS: rows((3600, 3, 1_000_000, 2_000_000, 4_000_000, 2)),
        views._RIGHTS: rows((1, 1, 0, "dyno")),
    }
    found = read(server(**changed))
    assert found.counters.keys() == {"counted_s", "huge_pages_used", "temp_bytes"}
    for counter in ("log_bytes", "databases_bytes"):
        assert "GRANT VIEW ANY DEFINITION TO [dyno]" in found.obstacles[counter]


def test_a_server_without_the_views_has_obstacles_and_nothing_breaks() -> None:
    found = read(Recorded({"SELECT DB_NAME()": rows(["master"])}))
    assert (found.tables, found.indexes, found.counters) == ([], [], {})
    assert {"tables", "indexes", "uses"} <= found.obstacles.keys()


def test_stored_columns() -> None:
    named = f"N'{TABLE}'"
    shown = rows(
        ("s_i_id", "int", 4, 10, 0, 1), ("s_data", "varchar", -1, 0, 0, 0),
        ("s_x", "xml", -1, 0, 0, 0),
    )  # fmt: skip
    session = Recorded(
        {
            stored_columns.COLUMNS.format(table=named): shown,
            columns.HISTOGRAM.format(table=named): readings("stats_histogram")[0],
            stored_columns.CHANGED.format(table=named): rows([17]),
            f"SELECT TOP (2) [s_i_id] FROM {TABLE}": rows([1], [2]),
        }
    )
    reader = SqlServerColumns(session)  # type: ignore[arg-type]
    item, data, document = reader.columns(TABLE)
    assert (item.type, item.key, item.large) == ("int", True, False)
    assert item.common == pytest.approx(2000 / 10940)
    assert (data.large, document.large, data.distinct) == (True, True, None)
    assert reader.changed(TABLE) == 17
    assert reader.sample(TABLE, ["s_i_id"], 2).column(0).to_pylist() == [1, 2]
    assert reader.column_store() == ""
    for name in ("stock", "[dbo].[stock]; DROP TABLE x", "[a].[b].[c].[d]"):
        with pytest.raises(TargetError):
            reader.columns(name)
    assert SqlServerColumns(Recorded({})).changed(TABLE) is None  # type: ignore[arg-type]


STEPS = st.lists(
    st.builds(
        Step,
        st.integers(0, 10**6).map(str),
        st.floats(0, 1e6),
        st.floats(0, 1e6),
        st.floats(0, 1e4),
    ),
    max_size=200,
)


@given(STEPS, st.integers(1, 100))
def test_bounds_are_values_of_the_histogram_in_its_order(steps: list[Step], parts: int) -> None:
    found = bounds(steps, parts)
    highs = iter([step.high for step in steps])
    assert all(bound in highs for bound in found)  # a subsequence
    assert len(found) <= parts + 1
    assert sum(common(steps).values()) <= 1 + 1e-9
    assert distinct(steps) >= len(steps)


def test_bounds_of_equal_steps_are_equal_parts() -> None:
    steps = [Step(str(at), 99, 1, 99) for at in range(200)]
    found = [int(bound) for bound in bounds(steps, 10)]
    assert {two - one for one, two in itertools.pairwise(found)} <= {19, 20}
    assert len(found) == 11


def files(**changed: Any) -> Recorded:
    first, _ = readings("master_files")
    answers: dict[str, Any] = {
        volumes.FILES: first,
        volumes.VOLUMES: readings("volume_stats")[0],
        whereabouts.AGE: rows([86_400]),
        views._RIGHTS: rows((1, 1, 1, "dyno")),
    }
    return Recorded({**answers, **changed})


def test_files_have_roles_and_volumes() -> None:
    found = volumes.read(files())  # type: ignore[arg-type]
    assert found.paths("temp") == ("/fast/tempdb.mdf", "/fast/templog.ldf")
    assert found.paths("log") == ("/var/opt/mssql/data/mastlog.ldf", "/log/dyno_tpcc_log.ldf")
    (one,) = [file for file in found.files if file.name == "dyno_tpcc"]
    assert one.volume is not None
    assert (one.volume.mount, one.volume.available) == ("/var/opt/mssql", 1 << 39)
    assert one.bytes == 1 << 30
    assert found.notes == ()


def test_a_server_tells_where_its_files_are() -> None:
    told = whereabouts.told(files())  # type: ignore[arg-type]
    assert told.places == {
        "data": ("/var/opt/mssql/data", "/more"),
        "log": ("/var/opt/mssql/data", "/log"),
        "temp": ("/fast",),
    }
    assert (told.data, told.age_s) == ("/var/opt/mssql", 86_400)


def test_files_of_windows_are_not_looked_for() -> None:
    windows = readings("master_files")[1]
    told = whereabouts.told(files(**{volumes.FILES: windows}))  # type: ignore[arg-type]
    assert (told.data, told.places) == ("", {})
    assert told.notes


def test_a_server_that_shows_no_files_has_notes() -> None:
    told = whereabouts.told(Recorded({}))  # type: ignore[arg-type]
    assert (told.data, told.places, told.age_s) == ("", {}, None)
    assert len(told.notes) >= 2


def test_capture_knows_its_counters() -> None:
    found = captured("sqlserver")
    assert found is not None
    assert (found.logs, found.counters, found.grammar) == ((), "dm_exec_query_stats", "tsql")
    named = {"shown": "a", "table": TABLE, "where": "a is not null", "most": 10}
    assert found.every.format(**named).startswith("select top (10) a from")
    assert "(5 percent)" in found.sample.format(**named, percent="5", share="0.05")


def test_a_counted_statement_is_drafted_in_t_sql() -> None:
    server = captured("sqlserver")
    assert server is not None
    table = TableFacts(
        "[dyno_tpcc].[dbo].[customer]",
        rows=1_000_000,
        columns=(ColumnFacts("c_id", "integer", "int"), ColumnFacts("c_at", "other", "datetime2")),
    )
    ran = [Together(9, (Ran("SELECT TOP (?) c_at FROM customer WHERE c_id = ? AND c_at < ?"),))]
    made = draft(ran, {"customer": table}, server, 10)
    (transaction,) = made.transactions
    ((text, _),) = transaction.statements
    assert ":c_id" in text
    assert "[" not in text
    query = made.draws["c_id"].draw["query"]
    assert query.startswith("select top (")
    assert "from [dyno_tpcc].[dbo].[customer] tablesample (" in query
    assert made.draws["c_at"].draw["query"].startswith("select top (")
    sqlglot.parse_one(query, read="tsql")

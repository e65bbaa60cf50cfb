"""Layouts of SQL Server: their statements, what a server lacks, and where files are.

No SQL Server was available. The statements are golden files, checked with Microsoft's grammar where
it is installed; a recorder answers as the documentation says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
import sqlglot

from dyno.contracts import schema
from dyno.contracts.layout import Layout
from dyno.errors import DynoError, TargetError, UsageError
from dyno.targets import parse, require_layout
from dyno.targets.sqlserver import buildmemory, database, design, filegroups, layout, sliding
from dyno.targets.sqlserver.advice import DIALECT
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.version import Version
from dyno.targets.window import WINDOW, slice_name
from dyno.workloads import get
from tests.scriptdom import mistakes, require_scriptdom
from tests.targets.sqlserver_golden import COLLATION, FOLDER, OWN, cases, statements, text, written
from tests.targets.sqlserver_recorder import BABELFISH, SERVER_2019, SERVER_2022, Recorder

CASES = cases()
URL = parse("mssql://dyno@localhost:1433/shop")
BEYOND_SQLGLOT = (
    "WITH (TABLOCK) SELECT",
    "DBCC ",
    " ON PRIMARY (NAME = ",
    " EXEC sys.sp_updateextendedproperty ",
)
"""Statements that sqlglot does not know; Microsoft's grammar does."""
TOO_NEW = {"tpch-columns-ordered"}
"""The grammar is that of SQL Server 2019, which has no ordered column stores."""


@pytest.mark.parametrize("name", CASES)
def test_the_statements_are_those_of_the_golden_file(name: str) -> None:
    """``python -m tests.targets.sqlserver_golden`` writes the files."""
    assert text(CASES[name]) == (FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def test_every_golden_file_has_a_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.sql")} >= CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_sqlglot_reads_every_statement(name: str) -> None:
    for statement in CASES[name]:
        if not any(words in statement for words in BEYOND_SQLGLOT):
            assert sqlglot.parse(statement, dialect="tsql"), statement


def test_microsofts_grammar_accepts_every_statement() -> None:
    require_scriptdom()
    listed = [(name, one) for name, found in CASES.items() if name not in TOO_NEW for one in found]
    listed = [(name, one.replace("/* the type of the column */", "date")) for name, one in listed]
    found = mistakes([one for _, one in listed])
    assert [(*item, wrong) for item, wrong in zip(listed, found, strict=True) if wrong] == []


def test_microsofts_grammar_finds_a_mistake() -> None:
    require_scriptdom()
    assert all(
        mistakes(
            ["CREATE PARTITION FUNCTION f (date) AS RANGE MIDDLE FOR VALUES (1)", "SELECT 1 FRM x"]
        )
    )


def advised() -> list[str]:
    """The commands of advice in SQL Server's words."""
    found = [
        *DIALECT.move_log,
        *DIALECT.move_temp,
        *DIALECT.back_up_log,
        DIALECT.analyse.format(table="[shop].[dbo].[sale]"),
        DIALECT.drop_index.format(index="[by_day]", table="[shop].[dbo].[sale]"),
        DIALECT.clean.format(table="[shop].[dbo].[sale]"),
    ]
    for knobs in DIALECT.knobs.values():
        for knob in knobs:
            for value in (0.0, 8.0, True, False):
                found += DIALECT.assign(knob, knob.write(value))
    return found


def test_microsofts_grammar_accepts_the_commands_of_advice() -> None:
    require_scriptdom()
    commands = advised()
    assert len(commands) > 60
    found = mistakes(commands)
    assert [pair for pair in zip(commands, found, strict=True) if pair[1]] == []


def test_every_partition_is_on_its_volume() -> None:
    found = CASES["tpch-partitioned-8-on-3"]
    (scheme,) = [one for one in found if one.startswith("CREATE PARTITION SCHEME")]
    groups = [filegroups.name_of(f"/mnt/{letter}") for letter in "abcabcab"]
    assert scheme.endswith(f"TO ({', '.join(f'[{group}]' for group in groups)})")
    files = [one for one in found if " ADD FILE (" in one]
    assert [one.split("FILENAME = N'")[1].split("/dyno_tpch_")[0] for one in files] == [
        "/mnt/a",
        "/mnt/b",
        "/mnt/c",
    ]


def test_the_side_of_a_bound_is_kept() -> None:
    """Seven bounds of eight ranges; a bound of RANGE LEFT is the layout's, not the next value."""
    bounds = written("brokerage", "trades-8").design("trade").bounds
    (function,) = [one for one in CASES["brokerage-trades-8"] if "PARTITION FUNCTION [trade" in one
                   and one.startswith("CREATE")]  # fmt: skip
    assert f"AS RANGE LEFT FOR VALUES ({', '.join(bounds)})" in function
    assert len(bounds) == 7


def test_an_interrupted_index_stage_continues() -> None:
    wanted = written("tpch", "keys-foreign")
    tables, known = schema.tables("tpch"), get("tpch")
    live = layout.require(SERVER_2022, wanted)
    key = known.foreign_keys[0]
    present = design.Present({("lineitem", "lineitem_pkey")}, {(key.table, key.name)})
    whole = design.stages("d", tables, known, wanted, design.Present(), live)
    rest = design.stages("d", tables, known, wanted, present, live)
    names = [{step.name for stage in stages for step in stage.steps} for stages in (whole, rest)]
    assert names[0] - names[1] == {"primary key lineitem", f"foreign key {key.name}"}


def test_indexes_are_found_by_the_names_that_babelfish_gives_them() -> None:
    wanted = written("tpch", "default")
    tables, known = schema.tables("tpch"), get("tpch")
    live = layout.require(BABELFISH, wanted)
    present = design.Present({("lineitem", f"lineitem_by_partlineitem{'6d5d8ebc' * 4}")})
    stages = design.stages("d", tables, known, wanted, present, live)
    names = {step.name for stage in stages for step in stage.steps}
    assert "index lineitem_by_part" not in names
    assert "index lineitem_by_shipdate" in names


def _statistics(name: str, present: design.Present | None = None) -> dict[str, str]:
    own = OWN.get(name)
    wanted = written(*((own[0], name, own[1]) if own else ("tpch", name)))
    live = layout.require(SERVER_2022, wanted)
    tables = schema.tables("tpch")
    stages = design.stages("d", tables, get("tpch"), wanted, present or design.Present(), live)
    return {step.table: step.statement for stage in stages for step in stage.steps
            if step.kind == "analyse"}  # fmt: skip


def test_every_column_has_statistics_and_those_of_indexes_stay() -> None:
    """The leading columns of indexes have them; an update would replace a full scan by a sample."""
    found = _statistics("default")
    columns = {one["name"]: {column["name"] for column in one["columns"]}
               for one in schema.tables("tpch")}  # fmt: skip
    leading = {"l_orderkey", "l_partkey", "l_shipdate"}
    made = {name for name in columns["lineitem"] if f"CREATE STATISTICS [{name}] ON "
            f"[dbo].[lineitem] ([{name}])" in found["lineitem"]}  # fmt: skip
    assert made == columns["lineitem"] - leading
    assert found.keys() == columns.keys()
    assert not [one for one in found.values() if "UPDATE" in one]


def test_partitioned_indexes_get_the_full_scan_that_their_build_lacks() -> None:
    found = _statistics("partitioned-4")
    indexes = "[lineitem_pkey], [lineitem_by_part], [lineitem_by_shipdate]"
    update = f"UPDATE STATISTICS [dbo].[lineitem] ({indexes}) WITH FULLSCAN"
    assert found["lineitem"].endswith(update)
    assert "UPDATE" not in found["orders"]
    assert "lineitem_columns" not in _statistics("columns-partitioned")["lineitem"]


def test_an_interrupted_stage_of_statistics_continues() -> None:
    tables = schema.tables("tpch")
    made = {(one["name"], column["name"]) for one in tables for column in one["columns"]}
    present = design.Present(statistics=made - {("lineitem", "l_tax")})
    (statement,) = _statistics("default", present).values()
    assert statement == "USE [d]; CREATE STATISTICS [l_tax] ON [dbo].[lineitem] ([l_tax])"


def test_a_partial_order_is_reported() -> None:
    wanted = written(*_own("columns-ordered"))
    live = layout.require(SERVER_2022, wanted)
    notes = layout.notes(wanted, schema.tables("tpch"), get("tpch").foreign_keys, live)
    assert any("(l_shipdate)" in one and "parallelism=1" in one for one in notes)


@pytest.mark.parametrize(
    ("name", "asked", "reason"),
    [
        ("columnar", "in column form", "no column store indexes"),
        ("clustered", "is clustered by l_shipdate", "accepts CREATE CLUSTERED INDEX and ignores"),
        ("columns-beside-rows", "lineitem_by_", "no column store indexes"),
        ("compression-page", "compression = 'page'", "accepts DATA_COMPRESSION and ignores it"),
        ("windows-volumes", r"data on E:\data", "no filegroups and files"),
    ],
)
def test_what_babelfish_lacks_is_refused_with_a_reason(name: str, asked: str, reason: str) -> None:
    own = OWN.get(name)
    wanted = written(*((own[0], name, own[1]) if own else ("tpch", name)))
    require_layout(URL, wanted)
    layout.require(SERVER_2022, wanted)
    with pytest.raises(UsageError) as caught:
        layout.require(BABELFISH, wanted)
    assert asked in str(caught.value)
    assert reason in str(caught.value)


def test_babelfish_has_ranges_to_the_right_only() -> None:
    layout.require(BABELFISH, written("tpch", "partitioned-8"))
    with pytest.raises(UsageError, match="no partition functions with RANGE LEFT"):
        layout.require(BABELFISH, written("brokerage", "trades-4"))


def test_a_cloud_places_files_itself() -> None:
    azure = replace(SERVER_2022, product="Azure SQL Managed Instance")
    layout.require(azure, written("tpch", "partitioned-8"))
    with pytest.raises(UsageError, match="Azure places the files"):
        layout.require(azure, written(*_own("windows-volumes")))


@pytest.mark.parametrize(
    ("design_of", "reason"),
    [
        ('form = "column"\ncompression = "page"', "a column store is always compressed"),
        (
            'form = "column"\nindexes = [{ columns = ["l_tax"], form = "column" }]',
            "omit the column store index lineitem_by_l_tax",
        ),
        (
            'indexes = [{ columns = ["l_tax"], form = "column" }, '
            '{ columns = ["l_discount"], form = "column" }]',
            "a table has one column store index; omit lineitem_by_l_discount",
        ),
    ],
)
def test_designs_that_contradict_themselves_are_refused(design_of: str, reason: str) -> None:
    wanted = written("tpch", "mine", f"[tables.lineitem]\n{design_of}\n")
    with pytest.raises(UsageError, match=reason):
        layout.require(SERVER_2022, wanted)


def test_column_stores_are_ordered_from_2022_on() -> None:
    layout.require(SERVER_2022, written(*_own("columns-ordered")))
    with pytest.raises(
        UsageError, match="ordered from SQL Server 2022 on; this is SQL Server 2019"
    ):
        layout.require(SERVER_2019, written(*_own("columns-ordered")))
    azure = Version("Azure SQL Managed Instance", (12, 0, 2000))
    layout.require(azure, written(*_own("columns-ordered")))


def test_wider_keys_are_reported() -> None:
    wanted = written("tpch", "keys-foreign").model_copy(
        update={"tables": written("tpch", "partitioned-4").tables}
    )
    live = layout.require(SERVER_2022, wanted)
    found = layout.notes(wanted, schema.tables("tpch"), get("tpch").foreign_keys, live)
    assert [line.split(":")[0] for line in found] == [
        "The primary key of lineitem is (l_orderkey, l_linenumber, l_shipdate)"
    ]
    keys = {table["name"]: list(table["primary_key"]) for table in schema.tables("tpch")}
    orders = written("tpch", "mine", '[tables.orders.partition]\ncolumn = "o_orderdate"\ncount = 4')
    assert not any(
        layout.can_refer(orders, key, keys)
        for key in get("tpch").foreign_keys
        if key.other == "orders"
    )


def _own(name: str) -> tuple[str, str, str]:
    workload, design_of = OWN[name]
    return workload, name, design_of


def _placed(**volumes: Any) -> Layout:
    return Layout(name="mine", workload="tpch", **volumes)


def test_filegroups_are_added_once_and_swept_when_they_are_empty() -> None:
    server = Recorder()
    filegroups.ensure(server, "dyno_tpch", _placed(data="/mnt/a", preallocate_bytes=3 << 30))
    name = filegroups.name_of("/mnt/a")
    assert server.groups == {"PRIMARY": None, name: "/mnt/a"}
    assert server.files[-1] == (name, name, f"/mnt/a/dyno_tpch_{name}.ndf", 3072)
    before = list(server.changing)
    filegroups.ensure(server, "dyno_tpch", _placed(data="/mnt/a"))
    assert server.changing == before
    assert filegroups.sweep(server, "dyno_tpch", _placed(data="/mnt/a")) == []
    assert filegroups.sweep(server, "dyno_tpch", None) == [name]
    assert server.groups == {"PRIMARY": None}
    assert all(file[1] != name for file in server.files)


def test_a_filegroup_is_removed_once_the_server_has_freed_its_space() -> None:
    server = Recorder()
    filegroups.ensure(server, "dyno_tpch", _placed(data="/mnt/a"))
    server.dropped = 3
    assert filegroups.sweep(server, "dyno_tpch", None) == [filegroups.name_of("/mnt/a")]
    assert server.dropped == 0


def test_a_filegroup_whose_file_could_not_be_added_gets_one_next_time() -> None:
    server = Recorder()
    wanted = _placed(data="/mnt/a")
    name = filegroups.name_of("/mnt/a")
    for refused, marked in (("sp_addextendedproperty", None), ("ADD FILE (", "/mnt/a")):
        server.refused = refused
        with pytest.raises(DynoError):
            filegroups.ensure(server, "dyno_tpch", wanted)
        assert server.groups[name] == marked
    server.refused = ""
    filegroups.ensure(server, "dyno_tpch", wanted)
    assert server.groups[name] == "/mnt/a"
    assert [file[1] for file in server.files].count(name) == 1


def test_a_filegroup_with_tables_stays() -> None:
    server = Recorder()
    filegroups.ensure(server, "dyno_tpch", _placed(data="/mnt/a"))
    server.refused = "REMOVE FILE"
    assert filegroups.sweep(server, "dyno_tpch", None) == []
    assert filegroups.name_of("/mnt/a") in server.groups


def test_a_filegroup_of_the_user_is_used_or_named() -> None:
    server = Recorder()
    server.groups["fast"] = None
    filegroups.ensure(server, "dyno_tpch", _placed(data="tablespace:fast"))
    assert server.changing == []
    with pytest.raises(UsageError, match=r"no filegroup 'fats'\. Did you mean 'fast'"):
        filegroups.ensure(server, "dyno_tpch", _placed(data="tablespace:fats"))
    assert filegroups.sweep(server, "dyno_tpch", None) == []  # it has no mark


def test_space_is_preallocated_in_the_default_place() -> None:
    server = Recorder()
    filegroups.ensure(server, "dyno_tpch", _placed(preallocate_bytes=10 << 30))
    (change,) = server.changing
    assert "MODIFY FILE (NAME = N'dyno_tpch', SIZE = 10240MB)" in change


@pytest.mark.parametrize(("pages", "mib"), [(1024, 64), (1 << 17, 1024), (25601, 201), (None, 64)])
def test_the_first_file_has_space_for_a_copy_of_model(pages: int | None, mib: int) -> None:
    """A smaller one is refused (error 1803)."""
    server = Recorder()
    server.known = [("SELECT CAST", lambda _: [("/var/opt/mssql/data", pages)])]
    wanted = _placed(log="/mnt/log")
    first = database.primary(cast("Session", server), wanted)
    text = filegroups.create_database("dyno_tpch", COLLATION, wanted, first)
    assert f"dyno_tpch.mdf', SIZE = {mib}MB" in text
    assert "_log.ldf', SIZE = 64MB" in text


def test_the_server_chooses_the_first_file_unless_the_log_is_placed() -> None:
    server = Recorder()
    assert database.primary(cast("Session", server), _placed()) is None
    assert server.sent == []


def test_a_new_database_stays_open() -> None:
    (options,) = [one for one in CASES["tpch-default"] if " SET " in one]
    assert "AUTO_CLOSE OFF, AUTO_SHRINK OFF" in options
    azure = replace(SERVER_2022, product="Azure SQL Managed Instance")
    for version in (azure, BABELFISH):
        made = database.created("tpch", version, _placed())
        assert not [one for one in made if "AUTO_CLOSE" in one]


@pytest.mark.parametrize(
    ("volumes", "words"),
    [
        ({"log": "/mnt/log"}, "FILENAME = N'/mnt/log/dyno_tpch_log.ldf'"),
        ({"temp": "/mnt/temp"}, "FILENAME = N'/mnt/temp/tempdb.mdf'"),
    ],
)
def test_a_log_or_tempdb_elsewhere_is_refused_with_the_statements(
    volumes: dict[str, str], words: str
) -> None:
    server = Recorder()
    with pytest.raises(UsageError) as caught:
        filegroups.ensure(server, "dyno_tpch", _placed(**volumes))
    assert words in str(caught.value)
    assert server.changing == []
    assert len(filegroups.deviations(server, "dyno_tpch", _placed(**volumes))) == 1


def test_a_log_and_tempdb_in_place_are_accepted() -> None:
    server = Recorder()
    there = _placed(log="/var/opt/mssql", temp="/var/opt/mssql/data")
    filegroups.ensure(server, "dyno_tpch", there)
    assert filegroups.deviations(server, "dyno_tpch", there) == []


def test_an_unusable_folder_is_explained() -> None:
    server = Recorder()
    server.known.insert(0, (r"ALTER DATABASE \[dyno_tpch\] ADD FILE", _operating_system))
    with pytest.raises(TargetError, match="install -d -o mssql -g mssql -m 770 /mnt/a"):
        filegroups.ensure(server, "dyno_tpch", _placed(data="/mnt/a"))


def _operating_system(_: Any) -> list[tuple[Any, ...]]:
    raise TargetError("Directory lookup for the file failed [error 5133].", kind="database")


@pytest.mark.parametrize(
    ("folder", "path", "inside"),
    [
        ("/mnt/a", "/mnt/a/x.ndf", True),
        ("/mnt/a", "/mnt/ab/x.ndf", False),
        ("E:\\data", "e:\\DATA\\x.ndf", True),
        ("E:\\data", "F:\\data\\x.ndf", False),
    ],
)
def test_paths_follow_the_rules_of_the_servers_system(folder: str, path: str, inside: bool) -> None:
    assert filegroups.within(folder, path) is inside


def test_a_window_needs_switch() -> None:
    found = sliding.sliding_window(lambda: cast("Session", Recorder(BABELFISH)), "tpch")
    assert found == sliding.NO_SWITCH


@pytest.mark.parametrize("name", [WINDOW, slice_name(3)])
@pytest.mark.parametrize("text", [None, "dyno:tpcc window"])
def test_a_window_of_others_is_never_dropped(name: str, text: str | None) -> None:
    server = Recorder()
    server.known = [
        ("SELECT t.name", lambda _: [("lineitem", 1 << 20)]),
        ("SELECT o.name", lambda _: [("lineitem", "dyno:tpch {}"), (name, text)]),
        ("", lambda _: []),
    ]
    found = sliding.sliding_window(lambda: cast("Session", server), "tpch")
    assert isinstance(found, str)
    assert name in found
    assert not [one for one in server.sent if "DROP" in one]


def test_a_window_is_marked_as_it_is_created_and_then_dropped() -> None:
    found = list(CASES["sliding-window"])
    for place in (f"INTO [dbo].[{name}]" for name in (WINDOW, slice_name(1))):
        at = next(number for number, one in enumerate(found) if place in one)
        assert (found[at - 1], found[at + 2]) == ("BEGIN TRANSACTION", "COMMIT")
        assert "@value = N'dyno:tpch window'" in found[at + 1]
        assert "SELECT TOP (0) " in found[at]  # the transaction locks the catalog
    (filled,) = [one for one in found if one.startswith(f"INSERT INTO [dbo].[{slice_name(1)}]")]
    assert "WITH (TABLOCK) SELECT TOP (100) t.*, 1 " in filled
    assert found[found.index(filled) - 1] == "COMMIT"
    dropped = [one for one in found if one.startswith("DROP TABLE")]
    assert dropped[1:] == [f"DROP TABLE [dbo].[{name}]" for name in (WINDOW, slice_name(2))] * 2


def test_the_memory_of_a_build_is_sampled_beside_it() -> None:
    builder, observer = cast("Session", Recorder()), Recorder()
    used = [0, 100 << 20, 80 << 20]

    def sampled(_: Any) -> list[tuple[Any, ...]]:
        if not used:
            raise TargetError("The session was killed.", kind="connection_lost")
        return [(used.pop(0),)]

    observer.known = [(r".*max_used_memory_kb.*session_id = 57", sampled)]
    with buildmemory.probing(lambda: observer, builder) as probe:
        assert probe is not None
        assert [probe(), probe(), probe()] == [100 << 20, 80 << 20, 80 << 20]


def test_a_build_without_the_right_to_see_its_memory_continues() -> None:
    observer = Recorder()
    observer.known = []
    with buildmemory.probing(lambda: observer, cast("Session", Recorder())) as probe:
        assert probe is None


def test_statements_of_the_default_design_need_no_layout() -> None:
    plain = statements(Layout(name="default", workload="tpch"))
    assert plain == list(CASES["tpch-default"])
    assert f"CREATE DATABASE [dyno_tpch] COLLATE {COLLATION}" == plain[0]

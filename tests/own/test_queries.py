"""Queries, setups and checks of a file: what is refused, and the SQL that is sent."""

from __future__ import annotations

import sqlite3
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno import workloads
from dyno.contracts.rule import inferred
from dyno.contracts.target import QueryResult, Texts
from dyno.errors import UsageError
from dyno.workloads.answers import compare_expected
from dyno.workloads.own import checks, queries, spec, sql
from dyno.workloads.own.forms import Check
from dyno.workloads.own.queries import literal

GOOD = """
[tables.item]
rows = 100
key = ["id"]
columns = { id = "int row", price = "int 1..100" }
[setup]
creates = ["dear"]
statements = [
  "create table dear as select id, price from item where price > 50",
  { name = "by_price", sql = "create index dear_by_price on dear (price)" },
]
[draws]
low = { uniform = [1, 10] }
word = { letters = 3 }
id = { sequence = "item" }
pick = { query = "select id from item" }
[[queries]]
name = "some"
title = "Some items"
weight = 3
values = { low = 5 }
sql = "select id from item where price >= :low and id <> :low"
rows = [0, 100]
[[queries]]
name = "all"
sql = "select count(*) from item"
rows = 1
answer = [[100]]
[[checks]]
name = "dear items"
sql = "select count(*) from dear"
same_as = "select count(*) from item where price > 50"
"""


def read(content: str, folder: Path | None = None) -> spec.File:
    return spec.read(content, "The workload x.toml", "x", folder)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("[[queries]]\nname = \"all\"", "[[querys]]\nname = \"all\"", "Did you mean 'queries'?"),
        ('name = "all"', 'name = "some"', "queries.some is defined twice"),
        ("weight = 3", "weight = 0", "weight"),
        (">= :low", ">= :lov", "unknown parameter :lov. Did you mean 'low'?"),
        (">= :low", ">= :id", "sequences are for transactions"),
        ("{ low = 5 }", "{ lou = 5 }", "Did you mean 'low'?"),
        ("{ low = 5 }", '{ low = "a" }', "the draw has numbers"),
        ("rows = [0, 100]", "rows = [9, 1]", "the smaller number first"),
        ("answer = [[100]]", "answer = [[100], [1, 2]]", "row 2: each row needs"),
        ("answer = [[100]]", 'answer = "/etc/passwd"', "below the folder"),
        ("answer = [[100]]", 'answer = "../a.csv"', "below the folder"),
        ("answer = [[100]]", 'file = "a.sql"', "has sql and file"),
        ('sql = "select count(*) from item"\n', "", "has neither sql nor file"),
        ('"select count(*) from item"\n', '"delete from item"\n', "changes data (DELETE)"),
        ('"select count(*) from item"\n', '"select 1 into x"\n', "SELECT … INTO"),
        ('"select count(*) from item"\n',
         '"with x as (delete from item returning id) select id from x"\n', "changes data (DELETE)"),
        ('"select count(*) from item"\n', '"drop table item"\n', "must be one of"),
        ("[draws]", "[transactions.t]\nstatements = ['select 1']\n[draws]", "a run drives one"),
        ("[tables.item]", 'main = "some"\n[tables.item]', "main applies to transactions"),
        ('creates = ["dear"]', "creates = []", "setup.creates is empty"),
        ('creates = ["dear"]', 'creates = ["dear", "more"]', "which no statement creates"),
        ('creates = ["dear"]', 'creates = ["dear", "item"]', "already in [tables]"),
        ("table dear as", "table public.dear as", "is not allowed"),
        ("table dear as", "table if not exists dear as", "has IF NOT EXISTS"),
        ("create table dear as", "create view dear as", "is not allowed"),
        ("create index dear_by_price on dear", "insert into item select * from dear",
         "names the table 'item'"),
        ("create index dear_by_price on dear (price)",
         "update dear, item set item.price = 0", "is not allowed"),
        ("create index dear_by_price on dear (price)",
         "update dear set price = 0 from item dear", "changes more than one table"),
        ("create index dear_by_price on dear (price)",
         "update dear set note = '(' from item dear where note <> ')'", "more than one table"),
        ("create index dear_by_price on dear (price)",
         "update dear set [x'] = 1 from item dear where note = '' --", "more than one table"),
        ("create index dear_by_price on dear (price)",
         "delete from dear from item dear", "is not allowed"),
        ("create index dear_by_price on dear (price)",
         "create table dear (id int) drop table item", "several statements"),
        ("create index dear_by_price on dear (price)", "drop table dear", "must be one of"),
        ("table dear as select id, price from item where price > 50",
         "table dear () inherits (public.orders)", "shares the rows"),
        ("table dear as select id, price from item where price > 50",
         "table dear partition of public.orders default", "shares the rows"),
        ("table dear as select id, price from item where price > 50",
         "table dear (id int) engine=merge union=(shop.orders)", "shares the rows"),
        ("as select id, price from item",
         "as with gone as (delete from item returning *) select * from gone",
         "changes more than one table"),
        ("where price > 50\",\n", "where price > :low\",\n", "a setup has none"),
        ("same_as", "value = 3\nsame_as", "has value and same_as"),
        ('sql = "select count(*) from dear"', 'sql = "select :low"', "without parameters"),
        ('sql = "select count(*) from dear"', 'sql = "update dear set id = 1"', "changes data"),
        ('sql = "select count(*) from dear"', "", "has no sql"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(old: str, new: str, named: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageError) as caught:
        read(GOOD.replace(old, new, 1))
    message = str(caught.value)
    assert named in message
    assert "\n" not in message
    assert "x.toml" in message


@pytest.mark.parametrize(
    "text",
    [
        "select 1 as [it's] drop table item --'",
        "select 1drop table item",
        "select 1 from item where name = '[' drop table item",
        "exec ('drop table item')",
        "exec @name",
        "exec sp_executesql N'drop table item'",
        "exec master.dbo.[sp_executesql] N'drop table item'",
        "call xp_cmdshell('reboot')",
    ],
)
def test_a_second_command_is_found(text: str) -> None:
    with pytest.raises(UsageError):
        sql.parsed(text, "x")


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        (
            "select i.id from item i inner merge join dear d on d.id = i.id option (merge union)",
            True,
        ),
        ("select `exec`, `shutdown` from job where a[1] = '[drop table x'", True),
        ("select x1e5, 1e5, 2.5from_ from item", True),
        ("exec dbo.sp_add_order 1", False),
        ("call note('exec')", False),
    ],
)
def test_words_that_are_no_second_command(text: str, reads: bool) -> None:
    assert sql.parsed(text, "x").reads is reads


@pytest.mark.parametrize(
    "change", ["set name = 'sent from us'", "set a = 1 where a is distinct from b"]
)
def test_a_setup_may_have_these_words(change: str) -> None:
    step = "create index dear_by_price on dear (price)"
    assert step in GOOD
    read(GOOD.replace(step, f"update dear {change}", 1))


def made(folder: Path, content: str = GOOD) -> Any:
    path = folder / "x.toml"
    path.write_text(content)
    return workloads.named(str(path))


def test_parameters_are_fixed_in_power_tests_and_drawn_in_streams(tmp_path: Path) -> None:
    found = made(tmp_path, GOOD.replace('name = "x"', "") + "# one\n")
    some, whole = found.queries
    assert some.validation(1.0) == {"low": 5}
    assert some.text() == "select id from item where price >= 5 and id <> 5"
    drawn = [some.draw(seed, 1.0)["low"] for seed in range(40)]
    assert set(drawn) == set(range(1, 11))
    assert drawn == [some.draw(seed, 1.0)["low"] for seed in range(40)]
    assert whole.draw(1, 1.0) == {}
    assert found.expected(whole, 1.0) == [(100,)]
    assert found.expected(whole, 2.0) is None


def test_the_order_of_a_stream_follows_from_its_seed(tmp_path: Path) -> None:
    order = made(tmp_path).order
    assert list(order(0, 1)) == ["some", "all"]
    assert Counter(order(1, 1)) == {"some": 3, "all": 1}
    assert len({tuple(order(stream, 1)) for stream in range(1, 30)}) > 1
    assert list(order(3, 7)) == list(order(3, 7))


def test_values_from_the_database_are_not_recorded(tmp_path: Path) -> None:
    found = made(tmp_path, GOOD.replace(">= :low", ">= :pick"))
    some = found.queries[0]
    found.prepare(lambda: Session([(7,)]))
    assert some.draw(3, 1.0)["pick"] == 7
    assert some.recorded(some.draw(3, 1.0)).keys() == {"low"}
    assert "price >= 7" in some.text(some.draw(3, 1.0))


class Session:
    """Answers every query with the same rows."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self.rows = rows

    def execute(self, sql: str) -> QueryResult:
        return QueryResult([sql], self.rows)

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def test_sql_and_answers_may_be_in_files(tmp_path: Path) -> None:
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "all.sql").write_text("-- all\nselect count(*) from item; -- end\n")
    (tmp_path / "all.csv").write_text("n,word\n100,007\n\\N,a\n")
    content = GOOD.replace('sql = "select count(*) from item"\n', 'file = "sql/all.sql"\n')
    found = read(content.replace("[[100]]", '"all.csv"'), tmp_path)
    query = found.queries[1]
    assert sql.parsed(str(query.sql), "x").sql == "select count(*) from item"
    assert query.answer == [["100", "007"], ["\\N", "a"]]
    record = made(tmp_path, content).record["statements"]
    assert "# select count(*) from item; -- end" in record["text"]
    with pytest.raises(UsageError, match=r"all\.sql: No such file"):
        read(content.replace("sql/all", "all"), tmp_path)
    (tmp_path / "link.sql").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="link"):
        read(content.replace("sql/all", "link"), tmp_path)


@pytest.mark.parametrize(
    ("found", "same"),
    [
        (["2.0", "007", "\\N"], True),
        (["2.0", 7, None], False),
        (["2", "007", None], False),
        ([2, "007", None], True),
        ([2.0000001, "007", None], True),
        ([Decimal("2.00"), "007", None], True),
        ([2.1, "007", None], False),
        ([None, "007", None], False),
    ],
)
def test_a_cell_of_csv_is_what_the_engine_has(
    tmp_path: Path, found: list[Any], *, same: bool
) -> None:
    (tmp_path / "all.csv").write_text("version,code,none\n2.0,007,\\N\n")
    content = GOOD.replace("[[100]]", '"all.csv"')
    ((_, expected),) = queries.answers_of(read(content, tmp_path)).values()
    rows = [tuple(None if value == "\\N" else value for value in found)]
    rules = inferred(3, rows)
    assert (not compare_expected(rows, expected, rules)) is same


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40))
def test_a_text_stays_one_literal(text: str) -> None:
    parsed = sql.parsed("select :x, ':x'", "x")
    with sqlite3.connect(":memory:") as session:
        row = session.execute(parsed.filled([literal(text)])).fetchone()
    assert row == (text, ":x")


@pytest.mark.parametrize(
    ("value", "texts", "expected"),
    [
        (None, Texts(), "NULL"),
        (-5, Texts(), "(-5)"),
        (Decimal("-1E+3"), Texts(), "(-1000)"),
        (Decimal("12.50"), Texts(), "12.50"),
        ("\\' or 1", Texts(escaped="'"), "'\\\\'' or 1'"),
        ("\\' or 1", Texts(escaped="E'"), "E'\\\\'' or 1'"),
        ("it's", Texts(escaped="E'"), "'it''s'"),
        ("\\'", Texts(), "'\\'''"),
        ("Москва", Texts(national="N"), "N'Москва'"),
        ("it's", Texts(national="N"), "'it''s'"),
        ("Москва", Texts(escaped="E'"), "'Москва'"),
    ],
)
def test_literals_by_target(value: Any, texts: Texts, expected: str) -> None:
    assert literal(value, texts) == expected


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("select 'into', \"update\" from t", []),
        ("select update_time from t", []),
        ("select a into b from t", ["into"]),
        (r"select 'a\' , ' into outfile ''/tmp/x'' -- '", ["into"]),
        ("select 1 as $$ into outfile '/tmp/x' union select 2 as $$", ["into"]),
        ("select x from t for update", ["update"]),
        ("select /*! 1 into outfile '/x' */ 1", ["into"]),
    ],
)
def test_words_of_changes_are_found_however_a_server_reads_quotes(
    text: str, changes: list[str]
) -> None:
    assert sql.Parsed(text, ()).changes == changes


@given(st.text(max_size=200))
def test_no_text_breaks_the_search_for_changes(text: str) -> None:
    try:
        found = sql.parsed(text, "x")
    except UsageError:
        return
    assert isinstance(found.changes, list)


@pytest.mark.parametrize(
    ("expected", "rows", "passed", "named"),
    [
        ({}, [], True, "no row"),
        ({}, [(3,)], False, "1 row violates it; first"),
        ({"rows": 2}, [(1,), (2,)], True, "2 rows"),
        ({"rows": (3, 4)}, [(1,)], False, "1 row, expected 3 to 4"),
        ({"value": 5}, [(Decimal("5.00"),)], True, ""),
        ({"value": 5}, [(6,)], False, "'6' against '5'"),
        ({"value": 0.5}, [(0.5000001,)], True, ""),
        ({"value": 0.5}, [(0.51,)], False, "0.51"),
        ({"value": "\\N"}, [(None,)], True, ""),
        ({"value": 5}, [], False, "0 rows against 1"),
        ({"answer": [["a", 1], ["b", 2]]}, None, False, "columns, expected 2"),
    ],
)
def test_a_check_says_what_it_found(
    expected: dict[str, Any], rows: list[tuple[Any, ...]] | None, passed: bool, named: str
) -> None:
    check = Check.model_validate({"name": "c", "sql": "select 1", **expected})
    found = checks.run("sqlite", Session([(1,)] if rows is None else rows), check)
    assert found.passed is passed
    assert found.name == "condition: c"
    assert named in found.message


def test_the_preview_shows_both_values(tmp_path: Path) -> None:
    preview = made(tmp_path).preview
    assert preview is not None
    lines = preview(1.0, 1)
    assert lines[0] == "some, Some items, 3 times in each stream"
    assert lines[2].startswith("      $1 low = 5 (power test), ")

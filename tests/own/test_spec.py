"""Files of statements are read strictly: each fault is one line that names its place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno import _core, workloads
from dyno.errors import UsageError
from dyno.workloads import own
from dyno.workloads.own import preview, spec, sql, types
from dyno.workloads.own.planned import Planner
from dyno.workloads.own.steps import steps_of

GOOD = """
[tables.item]
rows = 100
key = ["id"]
[tables.item.columns]
id = "int row"
name = "varchar(20) letters 5..20"
[draws]
id = { uniform = [1, "item"] }
next = { sequence = "item" }
[transactions.look]
weight = 3
statements = ["select name from item where id = :id"]
[transactions.copy]
statements = [
  { name = "get", sql = "select name from item where id = :id", keep = ["name text"] },
  { name = "put", sql = "insert into item values (:next, :name)" },
]
"""


def read(content: str) -> spec.File:
    return spec.read(content, "The workload x.toml", "x")


def test_a_good_file() -> None:
    found = read(GOOD)
    assert (found.name, list(found.transactions)) == ("x", ["look", "copy"])


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("weight", "wieght", "Did you mean 'weight'?"),
        ("uniform", "unifrom", "Did you mean 'uniform'?"),
        ("weight = 3", "weight = 0", "transactions.look.weight is 0"),
        ("weight = 3", "weight = nan", "transactions.look.weight"),
        ("weight = 3", "weight = '3'", "transactions.look.weight"),
        ("= :id\"]", "= :idd\"]", "unknown parameter :idd. Did you mean 'id'?"),
        ('[1, "item"]', '[1, "itm"]', "Did you mean 'item'?"),
        ('[1, "item"]', "[5, 1]", "minimum above its maximum"),
        ('[1, "item"]', "[1]", "two values"),
        ('[1, "item"]', "'1..100'", "two values"),
        ('keep = ["name text"]', "row = 1", "copy.statements[0].row'. Did you mean 'rows'"),
        ('keep = ["name text"]', "rows = '1'", "statements[0].rows is '1'"),
        ('keep = ["name text"]', "repeat = 200", "statements[0].repeat is 200"),
        ('{ name = "get", sql', '{ name = "get", sqll', "Did you mean 'sql'"),
        ('[1, "item"]', '[1, "item"], letters = 5', "has uniform and letters"),
        ('[1, "item"]', '[1, "item"], exponent = 2.0', "applies to zipf and latest"),
        ('[1, "item"]', '[1, "item"], type = "text"', "do not fit the type text"),
        ('[1, "item"]', '[1, "item"], type = "bigin"', "Did you mean 'bigint'?"),
        ('{ sequence = "item" }', '{ latest = "id" }', "not a sequence"),
        ('["name text"]', '["name txt"]', "Did you mean 'text'?"),
        ('["name text"]', '["id text"]', "which is a draw, too"),
        ('["name text"]', '["other text"]', "unknown parameter :name"),
        ('["name text"]', '["name text", "more int"]', "no later statement"),
        ("int row", "int letters 3", "cannot hold letters"),
        ("[tables.item]", "[tables.user]\nrows = 1\nkey = ['id']\ncolumns = { id = 'int row' }\n"
         "[tables.item]", "tables.user is a reserved word"),
        ("letters 5..20", "letters 5..21", "too short"),
        ("int row", "float row", "write TYPE VALUES"),
        ('key = ["id"]', 'key = ["ident"]', "Known: id, name"),
        ("select name from item where id = :id\"]", "drop table item\"]", "must be one of"),
        ("select name from item where id = :id\"]", "commit\"]", "begin and end by themselves"),
        ("select name from item where id = :id\"]", "select 1; select 2\"]", "several statements"),
        ("select name from item where id = :id\"]", "select $1\"]", "write parameters as :name"),
        ("select name from item where id = :id\"]", "select 1 into t\"]", "look.1 has SELECT …"),
        ("select name from item where id = :id\"]",
         "with x as (select 1) select * into t from x\"]", "look.1 has SELECT … INTO"),
        ("select name from item where id = :id\"]",
         "select name from item into outfile '/tmp/x'\"]", "look.1 has SELECT … INTO"),
        ('{ sequence = "item" }', '{ query = "select 1 into t" }', "draws.next.query has SELECT"),
        ('{ sequence = "item" }', '{ query = "select 1 from t for update" }', "draws.next.query"),
        ('{ sequence = "item" }', '{ query = "select 1 from t for share" }', "draws.next.query"),
        ("select name from item where id = :id\"]",
         "select :id\", {sql = \"select 2\", repeat = 100}, {sql = \"select 3\", repeat = 100}, "
         "{sql = \"select 4\", repeat = 100}]",
         "look.4 brings its transaction to 301 statements"),
        ("select name from item where id = :id\"]",
         "select 1\", {sql = \"select :id, :next, :now\", repeat = 99}, "
         "{sql = \"select :id\", repeat = 59}]",
         "look.3 brings its transaction to 257 drawn values"),
        ("[transactions.look]", "[transactions.Look]", "lower-case name"),
        ("[draws]", "[draws]\nnow = { constant = 1 }", "draws.now"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(old: str, new: str, named: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageError) as caught:
        read(GOOD.replace(old, new))
    message = str(caught.value)
    assert named in message
    assert "\n" not in message
    assert "x.toml" in message


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("select a from t where b = :b and c = 'into' and d <> 'for update'", True),
        ("select replace(a, 'x', 'y') from t", True),
        ("select a from t for update", False),
        ("select a from t for no key update skip locked", False),
        ("select a from t for  share", False),
        ("select a from t for key share", False),
        ("select a from t lock in share mode", False),
        ("update t set a = 1", False),
        ("insert into t select replace(a, 'x', 'y') from t", False),
        ("insert ignore into t values ('turned into')", False),
        ("replace into t values (1)", False),
        ("merge into t using s on t.a = s.a when matched then delete", False),
        ("with x as (insert into t values (1) returning a) select a from x", False),
        ("delete from t output deleted.a into gone where a = 1", False),
    ],
)
def test_a_select_reads_unless_it_changes_or_locks_rows(text: str, reads: bool) -> None:
    assert sql.parsed(text, "it").reads is reads


@pytest.mark.parametrize(
    "text",
    [
        "select * into t2 from t", "values (1) into t", "( select a into t2 from t )",
        "insert into t select a into outfile 'x' from t",
        "with x as (select replace(a, 'b', 'c') from t) select * into t2 from x",
        r"select 'a\' into t2 from t where b = '\'",
    ],
)  # fmt: skip
def test_what_creates_a_table_by_a_query_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="it has SELECT … INTO"):
        sql.parsed(text, "it")


@pytest.mark.parametrize(
    "text",
    [
        "select 1 as a drop table customer", "select 1 truncate table t", "select 1 exec('x')",
        r"select E'a\'b'; drop table t --'", "update t set a = 1 grant select on t to public",
        "with x as (select 1 as a) select a from x backup database d to disk = 'x'",
    ],
)  # fmt: skip
def test_several_statements_are_refused_however_a_server_reads_them(text: str) -> None:
    with pytest.raises(UsageError, match="several statements"):
        sql.parsed(text, "it")


def test_a_statement_with_another_behind_it_does_not_only_read() -> None:
    assert not sql.parsed("select 1 insert t values (1)", "it").reads
    assert sql.parsed("select insert(a, 1, 2, 'x'), [drop table] from t", "it").reads


def test_a_dialect_takes_its_parameters_from_the_general_statement() -> None:
    one = """
draws = { a = { constant = 1 }, b = { constant = 2 } }
[transactions.t]
statements = [{ sql = "select :a, :b", postgres = "select :b, 'costs $5 or $1', :a, :b" }]
"""
    found = read(one)
    (step,) = steps_of("t", found.transactions["t"], found)
    assert step.takes == ("a", "b")
    assert step.text["postgres"].sql == "select $2, 'costs $5 or $1', $1, $2"
    with pytest.raises(UsageError, match=r"transactions\.t\.1\.postgres uses :a"):
        read(one.replace("select :a, :b", "select :b"))


def wide(count: int) -> str:
    names = [f"a{number}" for number in range(count)]
    draws = "\n".join(f"{name} = {{ constant = 1 }}" for name in names)
    values = ", ".join(f":{name}" for name in names)
    return f"[draws]\n{draws}\n[transactions.t]\nstatements = ['select {values}']"


def test_what_the_driver_does_not_take_is_named() -> None:
    most = Planner("own_x", read(wide(sql.MOST_PARAMETERS)), {})
    assert len(preview.lines(most, 1.0, 1)) == 2 + sql.MOST_PARAMETERS
    with pytest.raises(UsageError, match=r"transactions\.t\.1 has 257 parameters"):
        read(wide(sql.MOST_PARAMETERS + 1))
    with pytest.raises(UsageError, match=r"queries\.q has 257 parameters"):
        query = "[[queries]]\nname = 'q'\nsql = "
        read(wide(257).replace("[transactions.t]\nstatements = [", query).rstrip("]"))
    odd = wide(1).replace("constant = 1", "nurand = [-5, 10], a = 7")
    with pytest.raises(UsageError, match="input a0"):
        preview.lines(Planner("own_x", read(odd), {}), 1.0, 1)


def test_a_cycle_of_values_is_named() -> None:
    cycle = """
[transactions.t]
statements = [
  { name = "a", sql = "select x from t where y = :y", keep = ["x int"] },
  { name = "b", sql = "select y from t where x = :x", keep = ["y int"] },
]
"""
    with pytest.raises(UsageError, match=r"cycle of values: t\.a needs t\.b needs t\.a"):
        read(cycle)
    alone = cycle.replace('"select y from t where x = :x"', '"select y from t"')
    with pytest.raises(UsageError, match=r"only t\.b after it keeps"):
        read(alone)


@pytest.mark.parametrize("content", ["", "x", "[transactions]", "[transactions.a]", "a = [" * 9000])
def test_what_is_no_workload_is_refused(content: str) -> None:
    with pytest.raises(UsageError):
        read(content)


def parsed_and_filled(text: str) -> None:
    try:
        found = sql.parsed(text, "it")
    except UsageError:
        return
    assert len(set(found.names)) == len(found.names)
    places = [f"${number}" for number in range(1, len(found.names) + 1)]
    assert found.filled(places) == found.sql


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader_of_statements(text: str) -> None:
    parsed_and_filled(text)


PIECES = (
    ":a", ":b", "'", '"', "`", "$$", "$t$", "$", "\\", "--", "/*", "*/", "\n", ";", "1", "x", " ",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=20))
def test_parameters_are_filled_in_where_they_were_found(pieces: list[str]) -> None:
    parsed_and_filled("select " + "".join(pieces))


@given(st.text(max_size=80))
def test_no_text_breaks_the_reader_of_columns(text: str) -> None:
    try:
        kind, _ = types.column_of(text, "it")
    except UsageError:
        return
    assert kind["type"]


@pytest.mark.parametrize(
    ("text", "expected", "names"),
    [
        ("select :a, :b, :a", "select $1, $2, $1", ("a", "b")),
        ("select ':a', \":b\", `:c`, :d", "select ':a', \":b\", `:c`, $1", ("d",)),
        ("select x::int, :a::text", "select x::int, $1::text", ("a",)),
        ("select $$ :a $$, :b", "select $$ :a $$, $1", ("b",)),
        ("select :a -- it's :b\n;", "select $1", ("a",)),
        ("select /*+ :a */ 1 /* ; :b */", "select /*+ :a */ 1", ()),
        ("select a[1:2]", "select a[1:2]", ()),
    ],
)
def test_parameters_are_found_outside_of_quotes_and_comments(
    text: str, expected: str, names: tuple[str, ...]
) -> None:
    found = sql.parsed(text, "it")
    assert (found.sql, found.names) == (expected, names)


@pytest.mark.parametrize("name", own.examples())
def test_examples_are_found_by_name(name: str) -> None:
    found = workloads.named(name)
    assert found.name.startswith("own_")
    assert found.queries or sum(found.transactions.mix.values()) == pytest.approx(1)


def test_a_wrong_name_is_met_by_an_example() -> None:
    with pytest.raises(UsageError, match="Did you mean 'ycsb-a'"):
        workloads.named("ycsb_a")


@pytest.mark.parametrize(("kind", "fits"), [("int", False), ("bigint", True)])
def test_a_scale_whose_rows_a_key_cannot_number_is_refused(
    tmp_path: Path, kind: str, fits: bool
) -> None:
    path = tmp_path / f"{kind}.toml"
    path.write_text(
        GOOD.replace("rows = 100", "rows = 1_000_000").replace("int row", f"{kind} row")
    )
    workload = workloads.named(str(path))
    assert workload.parse_scale(2147) == 2147
    if fits:
        assert workload.parse_scale(2148) == 2148
        return
    with pytest.raises(UsageError, match="item has 2,148,000,000 rows, and id"):
        workload.parse_scale(2148)


def test_shipped_workloads_do_not_include_files() -> None:
    workloads.named("ycsb-a")
    assert not [name for name in workloads.names() if name.startswith("own")]


def test_the_example_of_the_documentation_is_valid() -> None:
    page = Path(__file__).parents[2] / "docs" / "own-statements.md"
    whole, _, setup, _ = re.findall(
        r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
    )
    assert read(f"{setup}\n[[queries]]\nname = 'all'\nsql = 'select 1'").setup is not None
    found = read(whole)
    assert (found.name, found.main) == ("web_shop", "order")
    plan = Planner("own_web_shop", found, {}).plan(1.0, 1, None)
    assert len(json.loads(_core.preview(json.dumps(plan), 1, 5))) == 5

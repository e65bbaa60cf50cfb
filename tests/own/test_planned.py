"""Plans for the driver: draws, types, pools and the order of values."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno import _core, workloads
from dyno.contracts.target import Loaded, QueryResult
from dyno.contracts.transactions import Work
from dyno.errors import UsageError
from dyno.workloads import own
from dyno.workloads.own import pools, preview, queries, spec
from dyno.workloads.own.planned import Planner

DRAWS = """
[tables.item]
rows = 1_000
key = ["id"]
columns = { id = "int row" }
[draws]
uniform = { uniform = [5, 7] }
big = { uniform = [1, 5_000_000_000] }
zipf = { zipf = [1, "item"], exponent = 1.2 }
spread = { zipf = [1, "item"], scrambled = true }
nurand = { nurand = [10, 20], a = 7 }
sequence = { sequence = "item" }
latest = { latest = "sequence" }
letters = { letters = [2, 4] }
pattern = { pattern = "#-@" }
money = { constant = "12.50", type = "decimal(2)" }
word = { constant = "x" }
queried = { query = "select id from item" }
[transactions.all]
statements = [\"\"\"select :uniform, :big, :zipf, :spread, :nurand, :sequence, :latest, :letters,
  :pattern, :money, :word, :queried, :now\"\"\"]
"""


class Session:
    """Answers every query with the same rows."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def execute(self, sql: str) -> QueryResult:
        return QueryResult([sql], [(value,) for value in self.values])

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def planner(content: str) -> Planner:
    return Planner("own_x", spec.read(content, "x", "x"), {})


def drawn(plan: dict[str, Any], count: int = 400) -> list[dict[str, Any]]:
    found = json.loads(_core.preview(json.dumps(plan), 3, count))
    return [dict(each["values"]) for each in found]


def test_every_way_of_drawing_stays_within_its_bounds() -> None:
    plan = planner(DRAWS).plan(2.0, 1, lambda: Session(9, 4))
    values = drawn(plan)
    column = {name: [each[name] for each in values] for name in values[0]}
    assert set(column["uniform"]) == {5, 6, 7}
    assert all(1 <= each <= 5_000_000_000 for each in column["big"])
    assert all(1 <= each <= 2_000 for name in ("zipf", "spread") for each in column[name])
    # Rank 1 has a weight of 1 / zeta(1.2, 2000): about 24 %.
    assert 60 < column["zipf"].count(1) < 140
    assert column["spread"].count(1) < 40
    assert all(10 <= each <= 20 for each in column["nurand"])
    assert column["sequence"] == list(range(10, 410)), "it goes on after the largest key, 9"
    pairs = zip(column["latest"], column["sequence"], strict=True)
    assert all(1 <= latest <= number for latest, number in pairs)
    assert {len(each) for each in column["letters"]} == {2, 3, 4}
    assert all(each[0].isdigit() and each[1] == "-" and each[2].islower()
               for each in column["pattern"])  # fmt: skip
    assert set(column["money"]) == {1250}
    assert set(column["queried"]) == {4, 9}
    kinds = {each["name"]: each["kind"] for each in plan["operations"][0]["inputs"]}
    assert (kinds["uniform"], kinds["big"], kinds["money"]) == ("int", "big_int", {"decimal": 2})


def test_a_sequence_goes_on_from_level_to_level_of_one_place() -> None:
    content = """
[tables.item]
rows = 9
key = ["id"]
columns = { id = "int row" }
[draws]
number = { sequence = 1 }
id = { sequence = "item" }
[transactions.t]
statements = ["insert into item values (:id, :number)"]
"""

    def first(place: str, key: int) -> tuple[int, int]:
        plan = planner(content).plan(1.0, 1, lambda: Session(key), place)
        value = drawn(plan, 2)[0]
        return value["number"], value["id"]

    assert first("run-1/a", 9) == (1, 10)
    assert first("run-1/a", 11) == (3, 12), "the key has changed, the number goes on"
    assert first("run-1/a", 9) == (5, 10), "read before each level"
    assert first("run-1/b", 9) == (1, 10)
    assert first("run-2/a", 9) == (1, 10)
    assert first("", 9) == first("", 9) == (1, 10), "a dry run uses up no number"


def test_draws_repeat_with_their_seed() -> None:
    plan = planner(DRAWS).plan(1.0, 1, None)
    text = json.dumps({**plan, "name": "own_again"})
    other = json.dumps({**plan, "name": "own_again", "pools": {"queried": [2]}})
    one, two = json.loads(_core.preview(text, 3, 20)), json.loads(_core.preview(other, 3, 20))
    without = [
        [[name, value] for name, value in each["values"] if name not in {"queried"}] for each in one
    ]
    assert without == [
        [[name, value] for name, value in each["values"] if name not in {"queried"}] for each in two
    ]


@pytest.mark.parametrize("dialect", spec.DIALECTS)
def test_the_driver_knows_every_dialect(dialect: str) -> None:
    made = planner(
        f"""
draws = {{ a = {{ constant = 1 }} }}
[transactions.t]
statements = [{{ sql = "select :a", {dialect} = "select 2 * :a" }}]
"""
    )
    plan = made.plan(1.0, 1, None)
    assert plan["operations"][0]["steps"][0]["own"] == {dialect: ["select 2 * $1"]}
    assert drawn(plan, 1)


def test_a_repeated_statement_draws_anew() -> None:
    content = """
[draws]
id = { uniform = [1, 1_000_000_000] }
[transactions.t]
statements = [{ name = "a", sql = "select :id", repeat = 3 }, "select :id"]
"""
    plan = planner(content).plan(1.0, 1, None)
    (operation,) = plan["operations"]
    given_each = [step["given"] for step in operation["steps"]]
    assert len({names[0] for names in given_each}) == 4
    assert len(set(drawn(plan, 1)[0].values())) == 4


@pytest.mark.parametrize(
    ("statement", "bare"),
    [('"select 1"', True), ('"update t set a = 1"', False), ('"select 1", "select 2"', False)],
)
def test_only_a_single_select_runs_without_begin(statement: str, bare: bool) -> None:
    plan = planner(f"[transactions.t]\nstatements = [{statement}]").plan(1.0, 1, None)
    assert plan["operations"][0]["bare"] is bare


def test_the_preview_shows_values_and_where_others_come_from() -> None:
    content = (
        DRAWS
        + """
[transactions.later]
statements = [
  { name = "get", sql = "select id from item where id = :zipf", keep = ["found int"] },
  "delete from item where id = :found",
]
"""
    )
    text = "\n".join(preview.lines(planner(content), 1.0, 1))
    assert "$10 money = 12.50" in text
    assert "$12 queried = from its query" in text
    assert "$1 found = from later.get" in text
    assert "$13 now = the current time" in text


@pytest.mark.parametrize(
    ("draw", "named"),
    [
        ('uniform = [1, 5_000_000_000], type = "int"', "do not fit the type int; use bigint"),
        ('constant = "abc", type = "int"', "does not fit the type int"),
        ('constant = 3_000_000_000, type = "int"', "does not fit the type int"),
    ],
)
def test_values_that_do_not_fit_their_type(draw: str, named: str) -> None:
    content = f"[draws]\nx = {{ {draw} }}\n[transactions.t]\nstatements = ['select :x']"
    with pytest.raises(UsageError, match=named) as caught:
        planner(content).plan(1.0, 1, None)
    assert "draws.x" in str(caught.value)


@pytest.mark.parametrize("name", own.examples())
def test_examples_have_their_own_words_where_t_sql_has_others(name: str) -> None:
    """The driver translates a limit only if it is a number."""
    file = spec.read((own.EXAMPLES / f"{name}.toml").read_text(), name, name)
    if not file.transactions:
        return
    plan = Planner(name, file, {}).plan(1.0, 1, None)
    for operation in plan["operations"]:
        for step in operation["steps"]:
            if "limit $" in step["sql"]:
                (text,) = step["own"]["sqlserver"]
                assert "top (" in text
                assert "limit" not in text


def test_every_range_of_an_example_begins_at_a_row_of_its_own() -> None:
    """As sysbench's do: the second range of the same rows would find them in the cache."""
    content = (own.EXAMPLES / "sysbench-read-write.toml").read_text()
    plan = planner(content).plan(1.0, 1, None)
    (operation,) = plan["operations"]
    ranges = [one["given"] for one in operation["steps"] if "between" in one["sql"]]
    assert len(ranges) == 4
    firsts = [tuple(each[given[0]] for given in ranges) for each in drawn(plan, 20)]
    assert all(len(set(first)) > 1 for first in firsts)
    assert sum(one["name"] == "id" for one in operation["inputs"]) == 0, "points draw their own"


MONEY = """
[draws]
range = { uniform = [10, 12], type = "decimal(2)" }
fixed = { constant = 10, type = "decimal(2)" }
{lines}
"""


def test_the_bounds_of_decimals_are_numbers() -> None:
    """As constants are: 10 is 10.00, not 0.10."""
    transaction = '[transactions.t]\nstatements = ["select :range, :fixed"]'
    plan = planner(MONEY.replace("{lines}", transaction)).plan(1.0, 1, None)
    values = drawn(plan)
    assert {each["fixed"] for each in values} == {1000}
    found = {each["range"] for each in values}
    assert 1000 <= min(found) < 1020
    assert 1180 < max(found) <= 1200
    query = '[[queries]]\nname = "q"\nsql = "select :range, :fixed"\nvalues = { fixed = 10 }'
    made = Planner("own_x", spec.read(MONEY.replace("{lines}", query), "x", "x"), {})
    (one,) = queries.made(made.file, made)
    assert one.scaled(1.0)["fixed"] == Decimal(10) == one.draw(1, 1.0)["fixed"]
    assert Decimal(10) <= one.draw(1, 1.0)["range"] <= Decimal(12)


@pytest.mark.parametrize(
    ("draw", "named"),
    [
        ('{ zipf = [1, 9], type = "decimal(2)" }', "whole numbers"),
        ('{ nurand = [1, 9], a = 7, type = "decimal(2)" }', "whole numbers"),
        ('{ sequence = 1, type = "decimal(2)" }', "whole numbers"),
        ('{ latest = "ids", type = "decimal(2)" }', "whole numbers"),
        ('{ uniform = [0, 9_000_000_000_000_000_000], type = "decimal(2)" }', "do not fit"),
    ],
)
def test_decimals_that_cannot_be_drawn(draw: str, named: str) -> None:
    content = (
        f"[draws]\nids = {{ sequence = 1 }}\nx = {draw}\n"
        '[transactions.t]\nstatements = ["select :x, :ids"]'
    )
    with pytest.raises(UsageError, match=named):
        planner(content).plan(1.0, 1, None)


CSV = """
[draws]
sku = { csv = "sku.csv", column = "sku", type = "TYPE" }
[transactions.t]
statements = ["select :sku"]
"""


@pytest.mark.parametrize(
    ("kind", "rows", "values"),
    [
        ("text", 'sku,n\n"a,b",1\nc,2\n', ["a,b", "c"]),
        ("int", "n,sku\n1,5\n2,-7\n", [5, -7]),
        ("decimal(2)", "sku\n1.5\n2\n", [150, 200]),
    ],
)
def test_values_of_a_csv_file(kind: str, rows: str, values: list[Any], tmp_path: Path) -> None:
    (tmp_path / "sku.csv").write_text(rows)
    path = tmp_path / "shop.toml"
    path.write_text(CSV.replace("TYPE", kind))
    work = Work(Loaded(1.0, 1, complete=True), "random", "client")
    plan = workloads.named(str(path)).transactions.params(work)
    assert plan["pools"] == {"sku": values}
    assert pools.of_csv(tmp_path / "sku.csv", "sku", _kind(kind), "x") == values


def _kind(text: str) -> Any:
    from dyno.workloads.own.types import kind_of

    return kind_of(text, "x")


@pytest.mark.parametrize(
    ("rows", "kind", "named"),
    [
        ("skus\n1\n", "text", "no column 'sku'. Did you mean 'skus'?"),
        ("sku\n", "text", "no values"),
        ("sku\nsecret-value\n", "int", "row 2 has a value that does not fit the type int"),
        ("sku\n3000000000\n", "int", "does not fit the type int"),
        ("n,sku\n1\n", "text", "row 2: the column 'sku' is missing"),
        ('sku\n"a\n', "text", "not valid CSV"),
    ],
)
def test_a_csv_file_that_does_not_fit(rows: str, kind: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / "sku.csv"
    path.write_text(rows)
    with pytest.raises(UsageError) as caught:
        pools.of_csv(path, "sku", _kind(kind), "draws.sku")
    assert named in str(caught.value)
    assert "secret-value" not in str(caught.value)


def test_a_csv_file_must_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="device"):
        pools.of_csv(Path("/dev/zero"), "sku", "text", "draws.sku")
    with pytest.raises(UsageError, match="Cannot read"):
        pools.of_csv(tmp_path / "none.csv", "sku", "text", "draws.sku")


@pytest.mark.parametrize(
    ("values", "named"),
    [((), "no values"), ((1, "a"), "numbers and texts"), ((1.5,), "cast them"), ((True,), "cast")],
)
def test_a_query_whose_rows_do_not_fit(values: tuple[Any, ...], named: str) -> None:
    content = """
[draws]
x = { query = "select x from t" }
[transactions.t]
statements = ["select :x"]
"""
    with pytest.raises(UsageError, match=named):
        planner(content).plan(1.0, 1, lambda: Session(*values))


def test_values_of_a_query_are_those_of_each_place() -> None:
    content = """
[draws]
x = { query = "select x from t" }
[transactions.t]
statements = ["select :x"]
"""
    made = planner(content)

    def values(place: str, *rows: int) -> list[Any]:
        return list(made.plan(1.0, 1, lambda: Session(*rows), place)["pools"]["x"])

    first, other = values("run/a", 1, 2), values("run/b", 7)
    assert first != other
    assert values("run/a", 3) == first, "read once a run"


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9),
                            max_value=10**9), min_size=1, max_size=20))  # fmt: skip
def test_decimals_keep_their_value(values: list[Decimal]) -> None:
    kind = pools.kind_of_values([*values], "x")
    scale = kind["decimal"] if isinstance(kind, dict) else 0
    found = pools.literals([*values], kind, "x")
    assert [Decimal(int(str(each))).scaleb(-scale) for each in found] == values

"""Which conditions of statements partitions can use, as servers store their texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno import workloads
from dyno.contracts.advice import ColumnFacts, TableFacts
from dyno.decide.advise.loads import Load
from dyno.decide.advise.partition.predicates import Use, uses
from dyno.decide.advise.partition.tables import Known, of_system
from dyno.decide.advise.statements import LONGEST, UnreadableError, tree
from dyno.decide.advise.system import Facts, System

SHIPDATE = {"q01", "q03", "q06", "q07", "q12", "q14", "q15", "q20"}
"""Queries whose WHERE has L_SHIPDATE, as the DSS document lists them (6.2.2)."""
LINEITEM = "dyno_tpch.lineitem"


def table(name: str, *columns: str) -> Known:
    facts = [ColumnFacts(column, "integer") for column in columns]
    return Known(TableFacts(f"shop.{name}", columns=tuple(facts)))


SHOP = {"sale": table("sale", "id", "day", "item", "amount"), "item": table("item", "id", "name")}


def of(text: str, grammar: str = "postgres") -> dict[str, Use]:
    def find(place: str, name: str) -> Known | None:
        return SHOP.get(name) if place in ("", "shop") else None

    return uses(tree(text, grammar), find)


def in_postgresql(text: str) -> str:
    """As pg_stat_statements stores it: a number for each literal."""
    numbers = iter(range(1, 1000))
    return re.sub(r"'[^']*'|(?<![\w$])\d+(?:\.\d+)?", lambda _: f"${next(numbers)}", text)


def in_mariadb(text: str) -> str:
    """As performance_schema stores it."""
    text = re.sub(r"'[^']*'|(?<![\w$])\d+(?:\.\d+)?", "?", text)
    text = re.sub(r"\(\s*\?(?:\s*,\s*\?)+\s*\)", "(...)", text)
    return re.sub(r"INTERVAL \? (\w+)", r"INTERVAL ? SQL_TSI_\1", text)


STORED = {"postgres": (str, in_postgresql), "mysql": (in_mariadb,)}


@pytest.mark.parametrize(
    ("grammar", "stored"), [(one, how) for one, every in STORED.items() for how in every]
)
def test_the_queries_of_the_document_are_those_with_the_ship_date(
    grammar: str, stored: type[str]
) -> None:
    known = of_system(System("x", Facts({}, ""), loads=(Load("tpch", 1.0),)))
    mentioned: set[str] = set()
    forms: dict[str, str | None] = {}
    for query in workloads.get("tpch").queries:
        found = uses(
            tree(stored(query.text()), grammar),
            lambda place, name: known.get(f"{place or 'dyno_tpch'}.{name}"),
        )
        if LINEITEM in found and found[LINEITEM].mentions("l_shipdate"):
            mentioned.add(query.name)
            forms[query.name] = found[LINEITEM].form("l_shipdate")
    assert mentioned == SHIPDATE
    # Query 12 compares it with another column of the row, so no partition can be left out.
    assert forms == {
        "q01": "half", "q03": "half", "q12": "hidden",
        **dict.fromkeys(("q06", "q07", "q14", "q15", "q20"), "range"),
    }  # fmt: skip


FORMS = [
    ("SELECT * FROM sale WHERE day = $1", "equality"),
    ("SELECT * FROM sale WHERE $1 = day", "equality"),
    ("SELECT * FROM shop.sale WHERE day IN ($1, $2)", "equality"),
    ("SELECT * FROM sale s WHERE s.day = ANY($1)", "equality"),
    ("SELECT * FROM sale WHERE day BETWEEN $1 AND $2", "range"),
    ("SELECT * FROM sale WHERE day >= date $1 AND day < date $1 + interval $2", "range"),
    ("SELECT * FROM sale WHERE ((day > $1) AND ($2 > day))", "range"),
    ("SELECT * FROM sale WHERE day >= $1 AND day > $2", "half"),
    ("SELECT * FROM sale WHERE day >= (SELECT max(id) FROM item)", "half"),
    ("SELECT * FROM sale, item WHERE sale.day = item.id", "join"),
    ("SELECT * FROM sale JOIN item i ON day = i.id", "join"),
    ("SELECT * FROM sale WHERE day IN (SELECT id FROM item)", "join"),
    ("SELECT * FROM item WHERE EXISTS (SELECT 1 FROM sale WHERE day = item.id)", "join"),
    ("SELECT * FROM sale WHERE day = item", "hidden"),
    ("SELECT * FROM sale WHERE day = item + $1", "hidden"),
    ("SELECT * FROM sale WHERE date_trunc($1, day) = $2", "hidden"),
    ("SELECT * FROM sale WHERE day = $1 OR item = $2", "hidden"),
    ("SELECT * FROM sale WHERE NOT (day = $1)", "hidden"),
    ("SELECT * FROM sale WHERE day <> $1", "hidden"),
    ("SELECT CASE WHEN day = $1 THEN $2 END FROM sale", None),
    ("SELECT * FROM sale ORDER BY day LIMIT $1", None),
    ("SELECT * FROM sale WHERE item = $1", None),
    # Twice the table, once without a condition on the day.
    ("SELECT * FROM sale a, sale b WHERE a.day = $1 AND a.id = b.id", None),
    ("SELECT * FROM sale a, sale b WHERE a.day = $1 AND b.day > $2", "half"),
    ("WITH x AS (SELECT * FROM sale WHERE day = $1) SELECT * FROM x WHERE day > $2", "equality"),
    ("SELECT * FROM (SELECT item AS day FROM sale) x WHERE day = $1", None),
    ("UPDATE sale SET amount = $1 WHERE day = $2", "equality"),
    ("UPDATE sale SET amount = $1 FROM item i WHERE day = i.id", "join"),
    ("DELETE FROM sale WHERE day < $1", "half"),
    ("INSERT INTO item SELECT id FROM sale WHERE day = $1", "equality"),
]


@pytest.mark.parametrize(("text", "form"), FORMS)
def test_the_form_of_a_condition(text: str, form: str | None) -> None:
    assert of(text)["shop.sale"].form("day") == form


def test_marks_in_quotes_and_comments_are_no_placeholders() -> None:
    text = "SELECT '$1', \"day\" FROM sale -- $2 '\n WHERE day = $1 /* ? ... */ AND id = '?'"
    found = of(text)["shop.sale"]
    assert (found.form("day"), found.form("id")) == ("equality", "equality")


def test_mariadb_stores_a_column_named_day_as_a_unit() -> None:
    text = "SELECT ? FROM `sale` WHERE SQL_TSI_DAY >= ? AND SQL_TSI_DAY < DATE ? + INTERVAL ? "
    assert of(f"{text} SQL_TSI_MONTH", "mysql")["shop.sale"].form("day") == "range"
    moved = "SELECT * FROM `sale` WHERE SQL_TSI_DAY = ? + INTERVAL ( ? DIV ? ) SQL_TSI_DAY"
    assert of(moved, "mysql")["shop.sale"].form("day") == "equality"


def test_a_table_that_is_only_written_is_not_read() -> None:
    assert of("INSERT INTO sale VALUES ($1, $2, $3, $4)") == {}
    assert of("TRUNCATE sale") == {}


@pytest.mark.parametrize(
    "text",
    ["", "SELECT FROM WHERE", "SELECT (" * 3000, "SELECT '", "SELECT " + "1," * LONGEST],
    ids=["empty", "wrong", "nested", "open", "cut"],
)
def test_what_cannot_be_read_is_said(text: str) -> None:
    with pytest.raises(UnreadableError):
        of(text)


@settings(max_examples=40)
@given(st.text(max_size=80), st.sampled_from(["postgres", "mysql", "sqlite", "duckdb"]))
def test_any_text_is_read_or_refused(text: str, grammar: str) -> None:
    for statement in (text, f"SELECT * FROM sale WHERE {text}"):
        try:
            of(statement, grammar)
        except UnreadableError:
            continue

"""The shared reader of predicates: each kind, the scopes of names, and generated statements."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.decide.advise.predicates import Kind, places
from dyno.decide.advise.statements import tree


@dataclass(frozen=True)
class Named:
    name: str
    columns: tuple[str, ...]


SALE = Named("sale", ("id", "Day", "item", "name"))
ITEM = Named("item", ("id", "label", "Day"))
KNOWN = {("", "sale"): SALE, ("shop", "sale"): SALE, ("", "item"): ITEM}

Found = list[tuple[str, str, Kind, str]]


def read(text: str, grammar: str = "postgres") -> Found:
    """Table, column, kind and other table of each predicate, sorted."""
    found = places(tree(text, grammar), lambda schema, name: KNOWN.get((schema, name)))
    return sorted(
        (place.table.name, one.column, one.kind, one.other)
        for place in found
        for one in place.predicates
    )


def of_sale(condition: str) -> Found:
    return read(f"SELECT 1 FROM sale WHERE {condition}")


def one(
    column: str, kind: Kind, other: str = "", table: str = "sale"
) -> tuple[str, str, Kind, str]:
    return (table, column, kind, other)


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("day = 5", [one("Day", "equality")]),
        ('"Day" = 5', [one("Day", "equality")]),
        ("5 = (DAY)", [one("Day", "equality")]),
        ("day IS NOT DISTINCT FROM 5", [one("Day", "equality")]),
        ("day = ANY($1)", [one("Day", "equality")]),
        ("day = ANY(SELECT 1)", [one("Day", "join")]),
        ("day IN (1, 2)", [one("Day", "in")]),
        ("day IN (SELECT 5)", [one("Day", "join")]),
        ("day BETWEEN 1 AND 2", [one("Day", "range")]),
        ("day BETWEEN 1 AND item", [one("Day", "hidden")]),
        ("day > 5 AND 6 >= day", [one("Day", "high"), one("Day", "low")]),
        ("name LIKE 'x%'", [one("name", "prefix")]),
        ("name LIKE '%x'", [one("name", "hidden")]),
        ("name LIKE '_x'", [one("name", "hidden")]),
        ("name LIKE ''", [one("name", "hidden")]),
        ("name LIKE $1", [one("name", "hidden")]),
        ("name NOT LIKE 'x%'", [one("name", "hidden")]),
        ("name ILIKE 'x%'", [one("name", "hidden")]),
        ("name LIKE label", [one("name", "hidden")]),
        ("day = 5 OR item = 6", [one("Day", "hidden"), one("item", "hidden")]),
        ("(day = 5 AND item = 6)", [one("Day", "equality"), one("item", "equality")]),
        ("NOT (day = 5 AND item = 6)", [one("Day", "hidden"), one("item", "hidden")]),
        ("day <> 5", [one("Day", "hidden")]),
        ("day IS NULL", [one("Day", "hidden")]),
        ("day NOT IN (5)", [one("Day", "hidden")]),
        ("day NOT BETWEEN 1 AND 2", [one("Day", "hidden")]),
        ("lower(name) = 'x'", [one("name", "hidden")]),
        ("day + 1 < 5", [one("Day", "hidden")]),
        ("CAST(day AS INT) = 5", [one("Day", "hidden")]),
        ("day = item", [one("Day", "hidden"), one("item", "hidden")]),
        ("day = $1 + interval $2", [one("Day", "equality")]),
        ("day > (SELECT max(id) FROM item)", [one("Day", "low")]),
        ("unknown = 5", []),
        ("TRUE", []),
    ],
)
def test_each_kind(condition: str, wanted: Found) -> None:
    assert of_sale(condition) == wanted


JOINED = [one("id", "join", "s", "item"), one("item", "join", "i")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # Joins, by alias.
        ("SELECT 1 FROM sale s, item i WHERE s.item = i.id", JOINED),
        ("SELECT 1 FROM sale s JOIN item i ON (s.item = i.id)", JOINED),
        ("SELECT 1 FROM (sale s JOIN item i ON s.item = i.id)", JOINED),
        ("SELECT 1 FROM sale s JOIN item i USING (id)",
         [one("id", "join", "s", "item"), one("id", "join", "i")]),
        ("SELECT 1 FROM sale s JOIN item i USING (label)", []),
        ("SELECT 1 FROM sale s, item i WHERE s.day < i.day",
         [one("Day", "theta", "s", "item"), one("Day", "theta", "i")]),
        ("SELECT 1 FROM sale s, item i WHERE lower(s.name) = i.label",
         [one("label", "join", "s", "item"), one("name", "hidden")]),
        # ON of an outer join filters its optional side.
        ("SELECT 1 FROM sale s LEFT JOIN item i ON s.item = i.id AND s.day = 1 AND i.label = 'x'",
         [one("id", "join", "s", "item"), one("label", "equality", "", "item")]),
        ("SELECT 1 FROM sale s RIGHT JOIN item i ON s.item = i.id", [one("item", "join", "i")]),
        ("SELECT 1 FROM sale s FULL JOIN item i ON s.item = i.id", []),
        ("SELECT 1 FROM sale s LEFT JOIN item i ON TRUE WHERE s.day = 1", [one("Day", "equality")]),
        # Subqueries: names of the inner query come first; a correlated value is a join.
        ("SELECT 1 FROM item i WHERE EXISTS (SELECT 1 FROM sale s WHERE item = i.id AND day = 1)",
         [one("id", "join", "s", "item"), one("Day", "equality"), one("item", "join", "i")]),
        ("SELECT 1 FROM item WHERE id IN (SELECT item FROM sale WHERE id = 5)",
         [one("id", "join", "", "item"), one("id", "equality")]),
        ("SELECT 1 FROM sale s WHERE day > (SELECT avg(id) FROM item WHERE label = s.name)",
         [one("label", "join", "s", "item"), one("Day", "hidden"), one("name", "join", "item")]),
        ("SELECT 1 FROM sale s, item i WHERE s.day = (SELECT 1 FROM item b WHERE b.id = i.id)",
         [one("id", "join", "b", "item"), one("id", "join", "i", "item"), one("Day", "join", "i")]),
        ("SELECT (SELECT 1 FROM sale WHERE id = 5) FROM item", [one("id", "equality")]),
        # A derived table or CTE hides the tables within; a CTE hides a table of its name.
        ("SELECT 1 FROM (SELECT item AS day FROM sale) x WHERE day = 5", []),
        ("SELECT 1 FROM sale s JOIN (SELECT id FROM item) x ON s.item = x.id",
         [one("item", "join", "x")]),
        ("WITH x AS (SELECT * FROM sale WHERE day = 5) SELECT 1 FROM x WHERE item = 5",
         [one("Day", "equality")]),
        ("WITH item AS (SELECT id FROM sale) SELECT 1 FROM item WHERE id = 5", []),
        ("WITH item AS (DELETE FROM sale WHERE day = 5 RETURNING id) SELECT 1 FROM item "
         "WHERE id = 5", [one("Day", "equality")]),
        ("WITH RECURSIVE x AS (SELECT id FROM sale WHERE day = 5 UNION SELECT s.id FROM sale s, x "
         "WHERE s.item = x.id) SELECT 1 FROM x",
         [one("Day", "equality"), one("item", "join", "x")]),
        ("SELECT 1 FROM sale WHERE day = 5 UNION SELECT 1 FROM sale WHERE item = 5",
         [one("Day", "equality"), one("item", "equality")]),
        # Changes read as queries do, also in their SET and WITH.
        ("UPDATE sale SET day = 5 WHERE item = 5", [one("item", "equality")]),
        ("UPDATE sale SET day = (SELECT id FROM item WHERE label = 'x') WHERE id = 5",
         [one("label", "equality", "", "item"), one("id", "equality")]),
        ("WITH item AS (SELECT 5 AS id) UPDATE sale s SET day = 1 FROM item i WHERE s.item = i.id",
         [one("item", "join", "i")]),
        ("DELETE FROM sale s USING item i WHERE s.item = i.id", JOINED),
        ("INSERT INTO item SELECT id FROM sale WHERE day = 5", [one("Day", "equality")]),
        ("INSERT INTO sale VALUES (1)", []),
        ("SELECT 1 FROM elsewhere.sale WHERE day = 5", []),
        ("SELECT 1 FROM shop.sale WHERE day = 5", [one("Day", "equality")]),
        ("SELECT day = 5 FROM sale GROUP BY day HAVING day = 6 ORDER BY day = 7", []),
    ],
)  # fmt: skip
def test_names_belong_to_their_query(text: str, wanted: Found) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ("mysql", "UPDATE sale s JOIN item i ON s.item = i.id SET s.day = 1"),
        ("mysql", "DELETE s FROM sale s JOIN item i ON s.item = i.id"),
        ("mysql", "SELECT 1 FROM `sale` s STRAIGHT_JOIN `item` i WHERE s.`item` <=> i.`id`"),
        ("sqlite", "SELECT 1 FROM [sale] s, item i WHERE s.[item] == i.id"),
        ("duckdb", "FROM sale s JOIN item i ON s.item = i.id"),
        ("clickhouse", "SELECT 1 FROM sale AS s INNER JOIN item AS i ON s.item = i.id"),
    ],
)
def test_the_grammars_of_engines(grammar: str, text: str) -> None:
    assert read(text, grammar) == JOINED


def test_a_table_has_a_place_for_each_mention() -> None:
    found = places(
        tree("SELECT 1 FROM sale a, sale b WHERE a.day = 1 AND b.item = 2", "postgres"),
        lambda _, name: KNOWN.get(("", name)),
    )
    assert [one.columns("equality") for one in found] == [{"Day"}, {"item"}]
    assert [one.joined for one in found] == [{}, {}]


TERMS: dict[str, Kind] = {
    "{c} = 5": "equality", "5 = {c}": "equality", "{c} IN (5, 6)": "in", "{c} <= 5": "high",
    "{c} BETWEEN 5 AND 6": "range", "5 < {c}": "low", "{c} LIKE 'a%b'": "prefix",
    "{c} = i.id": "join", "i.id > {c}": "theta", "abs({c}) = 5": "hidden", "NOT {c} = 5": "hidden",
    "({c} = 5 OR {c} = 6)": "hidden", "{c} <> 5": "hidden",
}  # fmt: skip
COLUMNS = ("s.id", 's."Day"', "s.item", "S.NAME")


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(COLUMNS), st.sampled_from([*TERMS])), min_size=1, max_size=6
    ),
    st.data(),
)
def test_every_part_of_a_conjunction_is_read_in_any_nesting(
    terms: list[tuple[str, str]], data: st.DataObject
) -> None:
    parts = [term.format(c=column) for column, term in terms]
    while len(parts) > 1:
        at = data.draw(st.integers(0, len(parts) - 2))
        parts[at : at + 2] = [f"({parts[at]} AND {parts[at + 1]})"]
    spelt = {name.lower(): name for name in SALE.columns}
    wanted = {(spelt[column[2:].strip('"').lower()], TERMS[term]) for column, term in terms}
    for text in (
        f"SELECT 1 FROM sale s, item i WHERE {parts[0]}",
        f"SELECT 1 FROM item i JOIN sale AS s ON {parts[0]}",
        f"SELECT 1 FROM item i WHERE EXISTS (SELECT 1 FROM sale s WHERE {parts[0]})",
        f"DELETE FROM sale s USING item i WHERE {parts[0]}",
    ):
        found = {(column, kind) for table, column, kind, _ in read(text) if table == "sale"}
        assert found == wanted

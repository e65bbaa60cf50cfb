"""Column stores: planted tables, the formulas, and statements that get slower."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.bundle.tables import Table as Stored
from dyno.contracts.advice import Catalog, IndexFacts, dialect
from dyno.contracts.layout import Layout
from dyno.contracts.stored_columns import StoredColumn
from dyno.decide.advise.columnstore.build import Built, built, compression
from dyno.decide.advise.columnstore.candidates import (
    LEAST_ROWS,
    MOST_CHANGED,
    changed_a_day,
    judged,
    repeated,
)
from dyno.decide.advise.columnstore.memory import build_memory, needed
from dyno.decide.advise.columnstore.recorded import rows_of, view_of
from dyno.decide.advise.columnstore.selective import Indexed, lookups
from dyno.decide.advise.columnstore.view import ColumnView, TableColumns, plain_name
from dyno.decide.advise.kinds.columnstore import KIND, STUDY
from dyno.decide.advise.section import Asked
from dyno.decide.advise.system import Database, Facts, System
from dyno.decide.advise.uses import Relation, Statement, Uses
from dyno.layouts.resolve import resolve
from dyno.safety import plainjson
from dyno.studies import names as studies
from dyno.studies import spec
from dyno.targets.defaults import BOTH_FORMS

DAY, ENGINE = 86400.0, BOTH_FORMS
ROWS = 10_000_000
COLUMNS = (
    StoredColumn("id", "bigint", 8.0, float(ROWS), key=True),
    StoredColumn("region", "text", 10.0, 5.0),
    StoredColumn("price", "numeric", 6.0, 1000.0),
)
FACT = TableColumns("shop.sale", 10**9, ROWS, COLUMNS, ROWS, changed=0)
GOOD = {"shop.sale": 0.9}


def viewed(needs: str, tables: list[TableColumns], *rest: Any) -> ColumnView:
    return ColumnView(needs, "postgres", ENGINE, tables, *rest)


def codes(table: TableColumns, shares: dict[str, float] | None = None) -> set[str]:
    (one,) = judged(viewed("", [table], 10 * DAY), GOOD if shares is None else shares)
    return {reason.code for reason in one.exclusions}


LOB = StoredColumn("picture", "bytea", 5000.0, large=True)
PLANTED: list[tuple[str, dict[str, Any], dict[str, float] | None, set[str]]] = [
    ("clean", {}, None, set()),
    ("reads are not counted", {}, {}, set()),
    ("changes are not counted", {"changed": None}, None, set()),
    ("a narrow LOB", {"columns": (*COLUMNS, replace(LOB, width=4.0))}, None, set()),
    ("small", {"rows": LEAST_ROWS - 1}, None, {"small"}),
    ("few reads", {}, {"shop.other": 1.0}, {"few-reads"}),
    ("updated", {"changed": round(ROWS * MOST_CHANGED * 10 + 1)}, None, {"updated"}),
    ("large values", {"columns": (*COLUMNS, LOB)}, None, {"large-values"}),
    ("no columns", {"columns": (), "problem": "denied"}, None, {"no-statistics"}),
    ("no statistics", {"columns": (StoredColumn("a", "int"),)}, None, {"no-statistics"}),
    ("distinct", {"columns": COLUMNS[:1]}, None, {"distinct"}),
]


@pytest.mark.parametrize(("table", "shares", "wanted"), [p[1:] for p in PLANTED])
def test_what_excludes_a_table(
    table: dict[str, Any], shares: dict[str, float] | None, wanted: set[str]
) -> None:
    assert codes(replace(FACT, **table), shares) == wanted


def test_changes_of_less_than_a_day_are_not_extrapolated() -> None:
    table = replace(FACT, changed=ROWS // 100)
    assert changed_a_day(table, 60.0) == changed_a_day(table, DAY) == 0.01
    assert changed_a_day(table, 10 * DAY) == pytest.approx(0.001)
    assert changed_a_day(table, None) is None


def test_repeated_values_by_width() -> None:
    """8 bytes never repeat, 10 and 6 bytes almost always do."""
    share, sampled = repeated(FACT)
    assert share == pytest.approx((10 * (1 - 5e-7) + 6 * (1 - 1e-4)) / 24)
    assert not sampled
    common = replace(FACT, columns=(StoredColumn("a", "int", 4.0, float(ROWS), 0.5),))
    assert repeated(common) == (0.5, False)


@given(
    st.lists(
        st.tuples(st.floats(1, 1e4), st.one_of(st.none(), st.floats(1, 1e9)), st.floats(0, 1.001)),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 10**9),
)
def test_shares_stay_shares(columns: list[tuple[float, float | None, float]], rows: int) -> None:
    facts = tuple(
        StoredColumn(str(n), "x", width, distinct, common)
        for n, (width, distinct, common) in enumerate(columns)
    )
    share, _ = repeated(TableColumns("t", 1, rows, facts, rows))
    assert share is not None
    assert 0 <= share <= 1.001


def test_a_sample_stands_in_for_statistics() -> None:
    bare = tuple(replace(one, width=None, distinct=None) for one in COLUMNS)
    sample = Built(1000, 100, {"id": 1000, "region": 5, "price": 500}, {"id": 8, "region": 12})
    share, sampled = repeated(replace(FACT, columns=bare, built=sample))
    assert sampled
    assert share == pytest.approx(12 * (1 - 5 / 1000) / 20)  # price has no width


def test_compression_is_that_of_the_sample() -> None:
    count = 5000
    draw = random.Random(1)
    same = built(pa.table({"a": ["the same text"] * count}))
    noise = built(pa.table({"a": [draw.randbytes(16) for _ in range(count)]}))
    assert same is not None
    assert noise is not None
    assert (same.rows, same.distinct["a"], noise.distinct["a"]) == (count, 1, count)
    assert compression(13.0, same) > 50
    assert 0.8 < compression(16.0, noise) < 1.1
    assert built(pa.table({"a": pa.array([], pa.int32())})) is None
    odd = built(pa.table({"a": [{"x": 1}], "b": [[1, 2]]}))  # types that Arrow cannot count
    assert odd is not None
    (one,) = judged(viewed("", [replace(FACT, built=replace(same, rows=10, bytes=100))]), GOOD)
    assert one.ratio == pytest.approx(100 / 10)  # 100 B a row in the table


def test_memory_of_the_document() -> None:
    """8 MB x columns x degree of parallelism: 16 columns with 32 threads (figure 10's server)."""
    assert needed(16, 32) == 4.096e9
    found = build_memory(16, 32, 1e9)
    assert found.fits == 7
    assert needed(16, 7) <= 1e9 < needed(16, 8)
    assert build_memory(16, 2, None).fits is None


def statement(text: str, calls: int = 10, rows: int | None = 10) -> Statement:
    return Statement(text, text, calls, 100, 0, None, None, None, 1.0, rows, None)


SALE = Indexed(
    "shop.sale",
    frozenset({"id", "line", "region", "price"}),
    (frozenset({"id", "line"}),),
    frozenset({"region"}),
)


@pytest.mark.parametrize(
    ("text", "rows", "by"),
    [
        ("SELECT price FROM shop.sale WHERE id = $1 AND line = $2", 10, ("id", "line")),
        ("SELECT s.price FROM sale s WHERE (s.id = $1) AND $2 = s.line", 10, ("id", "line")),
        ("UPDATE shop.sale SET price = $3 WHERE id = $1 AND line = $2", 10, ("id", "line")),
        ("DELETE FROM shop.sale WHERE id = $1 AND line = $2", 10, ("id", "line")),
        ("SELECT * FROM t JOIN sale USING (x) WHERE id = $1 AND line = 2", 10, ("id", "line")),
        ("WITH a AS (SELECT 1 FROM sale WHERE id = 1 AND line = 1) SELECT * FROM a", 10,
         ("id", "line")),
        ("SELECT price FROM shop.sale WHERE region = $1", 10, ("region",)),
        ("SELECT price FROM shop.sale WHERE region = $1", 10_000, None),
        ("SELECT price FROM shop.sale WHERE region = $1", None, None),
        ("SELECT price FROM shop.sale WHERE id = $1", 10, None),
        ("SELECT price FROM shop.sale WHERE id = $1 OR line = $2", 10, None),
        ("SELECT price FROM shop.sale WHERE id > $1 AND line = $2", 10, None),
        ("SELECT price FROM shop.sale WHERE id = price AND line = $2", 10, None),
        ("SELECT price FROM other.sale WHERE id = $1 AND line = $2", 10, None),
        ("SELECT sum(price) FROM shop.sale GROUP BY id", 10, None),
    ],
)  # fmt: skip
def test_statements_that_look_up_rows(text: str, rows: int | None, by: Any) -> None:
    found, unread = lookups([statement(text, rows=rows)], [SALE], "postgres")
    assert [one.by for one in found] == ([] if by is None else [by])
    assert unread == 0


def test_statements_that_cannot_be_parsed_are_counted() -> None:
    texts = ("SELECT FROM WHERE (((", "CREATE EXTENSION x", "SELECT " + "(" * 3000)
    found, unread = lookups([statement(text) for text in texts], [SALE], "postgres")
    assert (found, unread) == ([], 2)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ('"The ""shop"""."a.b"', 'The "shop".a.b'),
        ("`my``db`.`t`", "my`db.t"),
        ("shop.sale", "shop.sale"),
    ],
)
def test_names_without_quotes(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def system(view: ColumnView | None, statements: tuple[Statement, ...] = ()) -> System:
    catalog = Catalog({}, indexes=[IndexFacts("pk", "shop.sale", ("id",), needed=True)])
    uses = Uses(
        statements,
        [Relation("shop.sale", "table", 70, 1, 1), Relation("shop.item", "table", 30, 1, 1)],
    )
    database = Database("postgresql", "postgresql://x", "PostgreSQL 17", {}, None, True, catalog)
    return System("x", Facts({}, "?"), database=database, uses=uses, columns=view)


def test_advice_ends_as_variants_that_the_study_takes() -> None:
    item = replace(FACT, name="shop.item", bytes=10**8)
    point = statement("SELECT price FROM shop.sale WHERE id = $1")
    view = viewed("it needs an extension", [item, FACT], 10 * DAY, 50e6, "run-1")
    section = KIND.advise(system(view, (point,)), Asked())
    assert section is not None
    names = ["lineitem in columns", "lineitem and orders in columns"]
    assert [one.name for one in section.variants] == names
    assert {one.name for one in spec.read(STUDY).variants} >= {*names}
    assert [one.changes for one in section.variants] == [
        {"target": ENGINE, "load.layout": "columnar-1"},
        {"target": ENGINE, "load.layout": "columnar-2"},
    ]
    document = section.document
    assert [one["name"] for one in document["tables"]] == ["shop.sale", "shop.item"]
    assert document["tables"][0]["share"] == 0.7
    assert document["memory"]["bytes"] == 24e6
    assert document["memory"]["run"] == "run-1"
    assert [one["by"] for one in document["slower"]] == [["id"]]
    assert plainjson.dumps(document)
    here = KIND.advise(system(replace(view, needs="")), Asked())
    assert here is not None
    assert [one.changes for one in here.variants] == [
        {"load.layout": "columnar-1"},
        {"load.layout": "columnar-2"},
    ]
    assert STUDY in studies()
    study = spec.read(STUDY)
    assert {one.load["layout"] for one in study.variants} >= {"columnar-1", "columnar-2"}


def test_no_candidate_means_no_variant() -> None:
    section = KIND.advise(system(viewed("", [replace(FACT, rows=1)], DAY)), Asked())
    assert section is not None
    assert section.variants == []
    assert section.document["tables"][0]["exclusions"][0]["code"] == "small"
    assert KIND.advise(system(None), Asked()) is None
    assert KIND.advise(system(viewed("", [])), Asked()) is None


def test_without_columns_the_reason_and_the_command_are_said() -> None:
    database = Database(
        "mysql", "mysql://x:***@h/d", "MariaDB 11", {}, dialect("mysql"), live=False
    )
    recorded = System("x", Facts({}, "?"), database=database)
    section = KIND.advise(recorded, Asked())
    assert section is not None
    assert "`dyno advise mysql://x@h/d`" in section.sentences[0]
    assert section.document["reason"]
    columnar = replace(database, dialect=dialect("duckdb"))
    other = KIND.advise(replace(recorded, database=columnar), Asked())
    assert other is not None
    assert "dyno advise" not in other.sentences[0]


TEXT = st.none() | st.text(max_size=5)
NUMBER = st.none() | st.floats(0, 1e9)
COUNT = st.none() | st.integers(0, 10**9)
STORED = st.builds(
    StoredColumn, st.text(max_size=5), st.text(max_size=5), NUMBER, NUMBER, NUMBER,
    st.booleans(), st.booleans(),
)  # fmt: skip
TABLE = st.builds(
    TableColumns, st.text(min_size=1, max_size=3), COUNT, COUNT,
    st.lists(STORED, max_size=3).map(tuple), COUNT, COUNT,
)  # fmt: skip


@given(st.lists(TABLE, min_size=1, max_size=4, unique_by=lambda one: one.name), NUMBER, TEXT)
def test_a_recorded_view_is_read_as_it_was(
    tables: list[TableColumns], counted_s: float | None, needs: str | None
) -> None:
    view = ColumnView(needs or "", "mysql", ENGINE, tables, counted_s)
    rows = list(rows_of(view))
    stored = pa.Table.from_pylist(
        [{"t_ns": at, "target": "x", **row} for at in (1, 2) for row in rows[at - 2 :]],
        schema=Stored.COLUMNS.schema(),
    ).to_pylist()
    found = view_of(stored, "mysql", ENGINE, "`dyno advise x`")
    assert found is not None
    assert (found.needs, found.counted_s) == (view.needs, counted_s)
    assert {one.name: replace(one, problem="") for one in found.tables} == {
        one.name: one for one in tables
    }
    assert found.sampled_by == "`dyno advise x`"
    assert judged(found, {})
    assert view_of([], "mysql", ENGINE, "") is None


@pytest.mark.parametrize(("name", "columns"), [("columnar-1", 1), ("columnar-2", 2), ("rows", 0)])
def test_layouts_name_the_form_of_every_table(name: str, columns: int) -> None:
    found: Layout = resolve(name, "tpch", 1.0)
    forms = [design.form for design in found.tables.values()]
    assert len(forms) == 8
    assert forms.count("column") == columns
    assert forms.count("row") == 8 - columns

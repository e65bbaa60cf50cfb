"""Index advice with the proof of real planners: hypopg on Debian's PostgreSQL, SQLite's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.hypothetical import Planning, Wish
from dyno.decide.advise.indexes.trial import IndexAdvice
from dyno.decide.advise.kinds.indexes import KIND
from dyno.decide.advise.section import Asked
from dyno.decide.advise.system import System
from dyno.errors import DynoError
from dyno.runner import advise
from dyno.targets.sqlite.hypothetical import same
from tests.conftest import missing
from tests.targets.conftest import LIMITS, ask, public_folder
from tests.targets.debian import debian_server
from tests.targets.test_postgresql_inside_url import opened

LINES = ("shared_preload_libraries = 'pg_stat_statements'", "autovacuum = off")
SHOP = """CREATE SCHEMA "The shop";
CREATE TABLE "The shop".sale AS SELECT i AS id, i % 5000 AS buyer, i % 3 AS state,
    date '2020-01-01' + i % 2000 AS day, 'a text that makes rows wider' AS note
    FROM generate_series(1, 100000) i;
ALTER TABLE "The shop".sale ADD PRIMARY KEY (id);
CREATE TABLE "The shop".buyer AS SELECT i AS id, i % 7 AS region FROM generate_series(0, 4999) i;
ALTER TABLE "The shop".buyer ADD PRIMARY KEY (id);
ANALYZE"""
WORK = (
    "SELECT * FROM \"The shop\".sale WHERE buyer = 17 AND day >= date '2021-05-05'",
    "UPDATE \"The shop\".sale SET note = 'x' WHERE buyer = 3",
    'SELECT * FROM "The shop".sale WHERE id = 5',
    'SELECT count(*) FROM "The shop".sale WHERE state = 1',
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Debian's PostgreSQL with a table that lacks an index."""
    with public_folder() as folder, debian_server(folder, *LINES) as found:
        target = opened(found)
        for statement in (*SHOP.split(";\n"), "CREATE EXTENSION pg_stat_statements"):
            ask(target, statement)
        for statement in WORK:
            ask(target, statement)
        ask(target, "CREATE ROLE plain LOGIN")
        yield found


def system_of(url: str) -> System:
    (found,) = advise.of_target(url, Path("/nowhere"), "oltp")
    return found


def advice_of(url: str) -> IndexAdvice:
    found = system_of(url).indexes
    assert found is not None
    return found


def test_without_the_extension_the_remedy_is_named(url: str) -> None:
    ask(opened(url), "DROP EXTENSION IF EXISTS hypopg CASCADE")
    found = advice_of(url)
    assert not found.proven
    assert found.obstacle.endswith("CREATE EXTENSION hypopg;") or "postgresql-" in found.obstacle


@pytest.fixture
def extended(url: str) -> str:
    """The same with hypopg."""
    offered = "SELECT 1 FROM pg_available_extensions WHERE name = 'hypopg'"
    if not ask(opened(url), offered):
        missing("hypopg for the system's PostgreSQL (apt-get install postgresql-15-hypopg)")
    ask(opened(url), "CREATE SCHEMA IF NOT EXISTS extra")
    ask(opened(url), "CREATE EXTENSION IF NOT EXISTS hypopg SCHEMA extra")
    return url


def test_the_missing_index_is_found_and_proven(extended: str) -> None:
    system = system_of(extended)
    found = system.indexes
    assert found is not None
    first = found.proven[0]
    assert first.wish == Wish('"The shop".sale', ("buyer", "day"))
    assert {one.text.split()[0] for one in first.served} == {"SELECT", "UPDATE"}
    for one in first.served:
        assert one.before is not None
        assert one.after is not None
        assert one.after < one.before / 10
    assert first.bytes is not None
    assert first.bytes > 1_000_000
    assert found.writes['"The shop".sale'] > 100_000
    # The key serves the third statement already; a third of all rows is no use for an index.
    assert {column for one in found.proven for column in one.wish.columns}.isdisjoint({"id"})
    section = KIND.advise(system, Asked())
    assert section is not None
    assert section.variants == []  # the tables are not of a workload of Dyno's


def test_its_definition_is_what_the_planner_then_uses(extended: str) -> None:
    target = opened(extended)
    first = advice_of(extended).proven[0]
    ask(target, first.definition)
    try:
        plan = ask(target, f"EXPLAIN {WORK[0]}")
        assert first.name in str(plan)
        again = advice_of(extended)
        assert first.wish not in [one.wish for one in again.proven]
    finally:
        ask(target, f'DROP INDEX "The shop".{first.name}')


def test_nothing_changes(extended: str) -> None:
    target = opened(extended)
    counted = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables"
    listed = "SELECT count(*), max(oid) FROM pg_class"
    before = [ask(target, question) for question in (counted, listed)]
    advice_of(extended)
    assert [ask(target, question) for question in (counted, listed)] == before


def test_missing_rights_are_named(extended: str) -> None:
    found = advice_of(extended.replace("user=dyno", "user=plain"))
    assert found.obstacle == (
        'an administrator must run: GRANT USAGE ON SCHEMA "extra" TO "plain";'
    )


def test_a_hostile_text_is_not_planned(extended: str) -> None:
    target = opened(extended)
    assert isinstance(target, Planning)
    with target.planner("") as planner:
        assert not isinstance(planner, str)
        (sale,) = [one for one in planner.tables if one.table == "sale"]
        for text in ("SELECT 1; DROP TABLE x", 'DELETE FROM "The shop".sale; SELECT 1', "DROP x"):
            with pytest.raises(DynoError, match=r"(?i)syntax|multiple"):
                planner.plan(text, [sale], ())
        assert planner.plan(WORK[0], [sale], ()).scanned == {sale.name}
    assert ask(target, 'SELECT count(*) FROM "The shop".sale') == [(100_000,)]


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Planning]:
    url = targets.parse(f"sqlite://{tmp_path}/shop.sqlite")
    with targets.open_target(url, tmp_path, LIMITS) as target:
        ask(target, "CREATE TABLE sale (id INTEGER PRIMARY KEY, buyer INT, state INT, note TEXT)")
        ask(
            target,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
            "INSERT INTO sale SELECT i, i % 5000, i % 2, 'a text' FROM n",
        )
        ask(target, "CREATE INDEX known ON sale (state)")
        ask(target, "ANALYZE")
        assert isinstance(target, Planning)
        yield target


def test_sqlite_plans_in_a_copy(sqlite: Planning) -> None:
    wish = Wish("sale", ("buyer",))
    with sqlite.planner("tpch") as planner:
        assert not isinstance(planner, str)
        (sale,) = planner.tables
        assert (sale.columns, sale.rows) == (("id", "buyer", "state", "note"), 20000)
        assert {one.columns for one in planner.indexes} == {("id",), ("state",)}
        text = "SELECT note FROM sale AS s WHERE s.buyer = ?"
        assert planner.plan(text, [sale], ()).scanned == {"sale"}
        after = planner.plan(text, [sale], (wish,))
        assert (after.used, after.scanned) == ({wish}, frozenset())
        assert planner.plan(text, [sale], ()).used == frozenset()
    assert [row[0] for row in ask(sqlite, "SELECT name FROM sqlite_master")][1:] == [  # pyright: ignore[reportArgumentType]
        "known", "sqlite_stat1",
    ]  # fmt: skip


def test_values_of_a_sample() -> None:
    assert same(1_000_000, 50_000, 50_000) == 1  # unique
    assert same(1_000_000, 50_000, 2) == 500_000  # a switch
    assert same(0, 0, 1) == 0 or same(1, 0, 1) == 1

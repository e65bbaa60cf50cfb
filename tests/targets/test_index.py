"""Keys and indexes: all built, each timed, stopped when asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import sql

from dyno.contracts.workload import Index
from dyno.errors import DatabaseError, Interrupted
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.index import Indexer, Step, build_steps, open_indexer, vacuum_steps
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import wait_until
from tests.targets.conftest import ITEMS

PLACE = "dyno_items"
INDEXES = (Index("item_name", "item", ("i_name", "i_day")),)


@pytest.fixture
def filled(postgres: PostgresTarget, items: str) -> Iterator[PostgresTarget]:
    postgres.create_tables(items, replace=False)
    session = postgres.connect(items)
    session.execute(
        "INSERT INTO item SELECT i, i, i, 'c', 'n' || i, '2020-01-01', NULL "
        "FROM generate_series(1, 1000) i"
    )
    session.execute("INSERT INTO log VALUES ('a'), ('a')")
    yield postgres
    session.execute("DROP SCHEMA dyno_items CASCADE")
    session.close()


def indexer(target: PostgresTarget, stop: threading.Event | None = None) -> Indexer:
    return open_indexer(target.connect, 2, stop or threading.Event(), lambda *_: None)


def test_the_largest_comes_first_and_nothing_twice() -> None:
    sizes = {"item": 10, "log": 20}
    steps = build_steps(PLACE, ITEMS, INDEXES, sizes, set())
    assert [step.name for step in steps] == ["primary key item", "index item_name"]
    assert build_steps(PLACE, ITEMS, INDEXES, sizes, {"item_pkey", "item_name"}) == []
    assert [step.name for step in vacuum_steps(PLACE, ITEMS, sizes)] == [
        "vacuum analyse log",
        "vacuum analyse item",
    ]


def test_keys_indexes_and_statistics_are_made(filled: PostgresTarget) -> None:
    work = indexer(filled)
    seen: list[tuple[int, int, str]] = []
    work = open_indexer(filled.connect, 2, threading.Event(), lambda *args: seen.append(args))
    build = build_steps(PLACE, ITEMS, INDEXES, {"item": 100}, set())
    vacuum = vacuum_steps(PLACE, ITEMS, {"item": 100})
    work.expect([build, vacuum])
    work.run(build)
    work.run(vacuum)
    assert set(work.seconds) == {
        "primary key item",
        "index item_name",
        "vacuum analyse item",
        "vacuum analyse log",
    }
    assert seen[-1][:2] == (300, 300)
    session = filled.connect("items")
    keys = session.execute(
        "SELECT conname, contype FROM pg_constraint WHERE conrelid = 'item'::regclass "
        "AND contype = 'p'"
    ).rows
    assert keys == [("item_pkey", "p")]
    visible, rows = session.execute(
        "SELECT relallvisible, reltuples FROM pg_class WHERE oid = 'item'::regclass"
    ).rows[0]
    assert (visible > 0, rows) == (True, 1000)
    session.close()


def test_a_failing_step_says_why_and_stops_the_rest(filled: PostgresTarget) -> None:
    twice = [
        {
            **ITEMS[1],
            "primary_key": ["l_text"],
        }
    ]
    with pytest.raises(DatabaseError, match="unique index"):
        indexer(filled).run(build_steps(PLACE, twice, (), {}, set()))


def test_it_stops_when_asked(filled: PostgresTarget) -> None:
    stop = threading.Event()
    slow = Step("slow", sql.SQL("SELECT pg_sleep(3600)").format(), 1)

    def progress(*_args: Any) -> None:
        stop.set()

    work = open_indexer(filled.connect, 2, stop, progress)
    with pytest.raises(Interrupted):
        work.run([slow, slow])
    session = filled.connect()
    # A session that was closed is listed until its process has ended.
    left = "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)'"
    wait_until(lambda: not session.execute(left).rows, "the sessions to end")
    session.close()


def test_a_key_that_was_left_as_an_index_becomes_one(filled: PostgresTarget) -> None:
    session = filled.connect("items")
    session.execute("CREATE UNIQUE INDEX item_pkey ON item (i_id)")
    present, keyed = ddl.index_names(session, PLACE), ddl.key_names(session, PLACE)
    assert (present, keyed) == ({"item_pkey"}, set[str]())
    indexer(filled).run(build_steps(PLACE, ITEMS, (), {"item": 100}, present, keyed))
    assert ddl.key_names(session, PLACE) == {"item_pkey"}
    assert build_steps(PLACE, ITEMS, (), {}, present, {"item_pkey"}) == []
    session.close()

"""A database of a PostgreSQL at a URL on flash, and back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.process import wait_until
from tests.targets.debian import owned
from tests.targets.flash.conftest import Server

NAME = 'The "shop"'
SUM = "SELECT md5(string_agg(i::text || t, '' ORDER BY i)) FROM item"
FILE = "SELECT pg_relation_filepath('item')"


@pytest.fixture
def shop(server: Server) -> Iterator[Server]:
    """The server with a database that has a table."""
    quoted = NAME.replace('"', '""')
    server.ask(f'CREATE DATABASE "{quoted}"')
    try:
        rows = "SELECT i, repeat('x', i % 300) t FROM generate_series(1, 5000) i"
        inside(server, f"CREATE TABLE item AS {rows}")
        idle(server)
        yield server
    finally:
        server.ask(f'DROP DATABASE "{quoted}" (FORCE)')


def inside(server: Server, statement: str) -> str:
    with server.session("dyno", dbname=NAME) as session:
        done = session.execute(statement)
        return str(done.fetchone()) if done.description else ""


def idle(server: Server) -> None:
    """Waits until the sessions that ended are gone from the server."""
    count = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{NAME}'"
    wait_until(lambda: server.ask(count) == [(0,)], "no sessions", 30)


def test_a_database_moves_with_its_data(shop: Server) -> None:
    before, rows = shop.state(), inside(shop, SUM)
    idle(shop)
    moved = shop.said("database", "--database", NAME, "--yes")
    assert (moved["on_flash"], moved["steps"]) == (True, [])
    assert inside(shop, SUM) == rows
    assert "pg_tblspc/" in inside(shop, FILE)
    assert list(shop.folder.glob("dyno_flash_db_*/PG_*/*/PG_VERSION"))
    idle(shop)
    # It is the database of the URL, too.
    url = shop.url.replace("/postgres?", "/The%20%22shop%22?")
    assert Server(url, shop.data, shop.folder).move("database", back=True).on_flash is False
    assert inside(shop, SUM) == rows
    assert shop.state() == before


def test_a_move_that_is_cut_off_is_finished_or_undone(shop: Server) -> None:
    asked = {"database": NAME}
    before = shop.state()
    for cut in (2, 3):
        assert shop.move("database", cut=cut, **asked).steps
        assert shop.move("database", back=True, **asked).on_flash is False
        assert shop.state() == before
        assert shop.move("database", cut=cut, **asked).steps
        assert not shop.move("database", back=cut == 2, **asked).steps
    moved = shop.state()
    assert shop.move("database", back=True, cut=1, **asked).steps
    assert shop.move("database", **asked).on_flash is True
    assert shop.state() == moved
    shop.move("database", back=True, cut=1, **asked)
    assert not shop.move("database", back=True, **asked).steps
    assert shop.state() == before


def test_it_returns_to_the_tablespace_it_had(shop: Server) -> None:
    theirs = owned(shop.folder / "theirs")
    quoted = NAME.replace('"', '""')
    shop.ask(
        f"CREATE TABLESPACE theirs LOCATION '{theirs}'",
        f'ALTER DATABASE "{quoted}" SET TABLESPACE theirs',
    )
    inside(shop, "CREATE TABLE apart (i int) TABLESPACE pg_default")
    idle(shop)
    before = shop.state()
    assert any("pg_default" in note for note in shop.plan("database", database=NAME).notes)
    shop.move("database", database=NAME)
    shop.move("database", back=True, database=NAME)
    assert shop.state() == before
    inside(shop, "DROP TABLE apart")
    idle(shop)
    shop.ask(f'ALTER DATABASE "{quoted}" SET TABLESPACE pg_default', "DROP TABLESPACE theirs")
    theirs.rmdir()


def test_sessions_are_not_ended(shop: Server) -> None:
    before = shop.state()
    with shop.session("clerk", dbname=NAME) as session:
        assert "clerk" in shop.refused(3, "database", database=NAME)
        assert shop.said("database", "--database", NAME, "--check", code=1)["on_flash"] is False
        assert session.execute("SELECT 1").fetchone() == (1,)
    assert shop.state() == before


def test_space_and_names_are_checked_first(shop: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shop.state()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    assert str(shop.folder) in shop.refused(3, "database", database=NAME)
    monkeypatch.undo()
    shop.refused(2, "database", database="none")
    assert shop.state() == before

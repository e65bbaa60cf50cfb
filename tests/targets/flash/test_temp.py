"""Temporary files of a PostgreSQL at a URL on flash, and back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from dyno.targets.postgresql.flash.temp import NAME
from dyno.targets.postgresql.target import PostgresTarget
from tests.targets.conftest import public_folder
from tests.targets.debian import owned
from tests.targets.flash.conftest import Server

SPILL = "SELECT i FROM generate_series(1, 200000) i ORDER BY i DESC"


def spilled(server: Server) -> list[Path]:
    return list((server.folder / NAME).glob("PG_*/pgsql_tmp/*"))


@contextmanager
def spilling(server: Server, role: str) -> Iterator[None]:
    """A session that has spilled a sort, and still reads it."""
    with server.session(role) as session:
        session.execute("SET work_mem = '64kB'")
        session.execute("BEGIN")
        session.execute(f"DECLARE sorted CURSOR FOR {SPILL}")
        session.execute("FETCH 1 FROM sorted")
        yield


def test_queries_of_all_roles_spill_to_flash(server: Server) -> None:
    before = server.state()
    dry = server.said("temp")
    assert any(step.startswith("CREATE TABLESPACE") for step in dry["steps"])
    assert server.state() == before
    with server.session("clerk") as earlier:
        moved = server.said("temp", "--yes")
        assert (moved["on_flash"], moved["moved"], moved["steps"]) == (True, True, [])
        assert earlier.execute("SHOW temp_tablespaces").fetchone() == (NAME,)
    with spilling(server, "clerk"):
        assert spilled(server)
        server.said("temp", "--back", "--yes", code=2)
        # All is as before, but for the files of this session.
        assert server.state()["shown"] == before["shown"]
        files = spilled(server)
        with spilling(server, "dyno"):
            assert spilled(server) == files
        (left,) = server.said("temp", "--back", "--check", code=1)["steps"]
        assert left.startswith("DROP TABLESPACE")
    server.move("temp", back=True)
    assert server.state() == before


@pytest.mark.parametrize("back", [False, True], ids=["onto flash", "back"])
@pytest.mark.parametrize("other_way", [False, True], ids=["again", "the other way"])
def test_a_move_that_is_cut_off_is_finished_or_undone(
    server: Server, back: bool, other_way: bool
) -> None:
    server.ask("ALTER SYSTEM SET temp_tablespaces = pg_default, 'Fast', ''")
    server.ask("SELECT pg_reload_conf()")
    before = server.state()
    server.move("temp")
    moved = server.state()
    to_flash = back is other_way
    for cut in range(1, 3 if back else 6):
        server.move("temp", back=not back)
        assert server.move("temp", back=back, cut=cut).steps
        assert not server.move("temp", back=not to_flash).steps
        if cut == 1 and not back and not to_flash:
            (server.folder / NAME).rmdir()  # empty; the server does not know it yet
        assert server.state() == (moved if to_flash else before), cut
    server.move("temp", back=True)
    assert server.state() == before
    server.ask("ALTER SYSTEM RESET temp_tablespaces", "SELECT pg_reload_conf()")


def test_settings_of_others_are_noticed_and_stay(server: Server) -> None:
    theirs = owned(server.folder / "theirs")
    server.ask(f"CREATE TABLESPACE \"Their, own\" LOCATION '{theirs}'")
    server.ask("ALTER SYSTEM SET temp_tablespaces = 'Their, own', pg_default")
    server.ask("ALTER ROLE clerk IN DATABASE postgres SET temp_tablespaces = 'Their, own'")
    server.ask("SELECT pg_reload_conf()")
    before = server.state()
    notes = server.plan("temp").notes
    assert any("role clerk, database postgres" in note for note in notes)
    assert any("postgresql.auto.conf" in note for note in notes)
    server.move("temp")
    server.move("temp", back=True)
    assert server.state() == before
    # What was changed after the move stays.
    server.move("temp")
    server.ask("ALTER SYSTEM SET temp_tablespaces = pg_default")
    assert any("pg_default" in note for note in server.plan("temp", back=True).notes)
    server.move("temp", back=True)
    assert server.state()["written"] == ["temp_tablespaces = 'pg_default'"]
    # What names Dyno's tablespace, and was not set by Dyno.
    server.move("temp")
    server.ask(f"ALTER ROLE clerk SET temp_tablespaces = {NAME}")
    assert "role clerk" in server.refused(2, "temp", back=True)
    server.ask("ALTER ROLE clerk RESET temp_tablespaces")
    server.move("temp", back=True)
    server.ask("ALTER SYSTEM RESET temp_tablespaces", "SELECT pg_reload_conf()")
    server.ask('DROP TABLESPACE "Their, own"')
    theirs.rmdir()


def test_a_setting_of_the_own_role_hides_no_move(server: Server) -> None:
    server.ask("ALTER ROLE dyno SET temp_tablespaces = pg_default")
    assert server.move("temp").on_flash is True
    with spilling(server, "clerk"):
        assert spilled(server)
    server.move("temp", back=True)
    server.ask("ALTER ROLE dyno RESET temp_tablespaces")


def test_a_tablespace_of_others_stays(server: Server) -> None:
    theirs = owned(server.folder / "theirs")
    server.ask(f"CREATE TABLESPACE {NAME} LOCATION '{theirs}'")
    before = server.state()
    assert NAME in server.refused(2, "temp")
    assert NAME in server.refused(2, "temp", back=True)
    assert server.state() == before
    server.ask(f"DROP TABLESPACE {NAME}")
    theirs.rmdir()


def test_folders_that_are_refused(server: Server) -> None:
    before = server.state()
    place = owned(server.folder / NAME)
    (place / "mine").touch()
    assert str(place) in server.refused(2, "temp")
    shutil.rmtree(place)
    link = server.folder.parent / "link"
    link.symlink_to(server.folder)
    closed = server.folder / "closed" / "below"
    closed.mkdir(parents=True)
    closed.parent.chmod(0o700)
    for folder in ("relative", "/new\nline", server.folder / "none", link, server.data):
        server.refused(2, "temp", folder=str(folder))
    server.refused(3, "temp", folder=str(closed))
    shutil.rmtree(closed.parent)
    link.unlink()
    assert server.state() == before


def test_a_role_without_rights_gets_the_statement(server: Server) -> None:
    clerk = replace(server, url=server.url.replace("user=dyno", "user=clerk"))
    for back in (False, True):
        error = clerk.refused(3, "temp", back=back)
    server.ask(error[error.index("ALTER ROLE") :])
    assert clerk.move("temp").on_flash is True
    clerk.move("temp", back=True)


def test_standbys_need_the_folder_first(server: Server) -> None:
    server.ask("SELECT pg_create_physical_replication_slot('standby')")
    before = server.state()
    assert "--standbys-ready" in server.refused(2, "temp")
    assert server.state() == before
    assert server.move("temp", standbys_ready=True).on_flash is True
    server.move("temp", back=True)
    server.ask("SELECT pg_drop_replication_slot('standby')")


def test_a_lost_flash_device_can_be_left(server: Server) -> None:
    server.move("temp")
    shutil.rmtree(server.folder / NAME)
    assert server.move("temp", back=True).on_flash is False


def test_the_private_servers_version(postgres: PostgresTarget) -> None:
    """PostgreSQL 18, as a server at a URL."""
    with public_folder() as folder, closing(postgres.connect()) as session:
        info = session.raw.info
        url = f"postgresql:///{info.dbname}?host={info.host}&port={info.port}&user={info.user}"
        server = Server(url, postgres.data_paths()[0], folder)
        before = server.state()
        assert server.move("temp").on_flash is True
        with spilling(server, info.user):
            assert spilled(server)
        server.move("temp", back=True)
        assert server.move("database", database="template1").on_flash is True
        server.move("database", back=True, database="template1")
        assert server.state() == before

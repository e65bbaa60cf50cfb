"""Sessions with a real server: values, errors, cancelling, passwords."""

from __future__ import annotations

import datetime
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import pytest

from dyno import targets
from dyno.errors import DatabaseError, DynoError, TargetError
from dyno.targets import patience
from dyno.targets.patience import Heed
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import wait_until
from tests.proxy import Proxy
from tests.targets.conftest import LIMITS


def at(postgres: PostgresTarget, user: str = "dyno", database: str = "postgres") -> PostgresTarget:
    """The private server as if it were somebody's own, by URL."""
    folder = quote(postgres.wire()["host"], safe="")
    text = f"postgresql://{user}@/{database}?host={folder}"
    target = targets.open_target(targets.parse(text), Path("/nowhere"), LIMITS)
    assert isinstance(target, PostgresTarget)
    return target


def test_values_are_pythons_own(postgres: PostgresTarget) -> None:
    session = postgres.connect()
    result = session.execute(
        "SELECT 1 AS a, 2::bigint, 1.50::numeric, 'x'::char(5), date '2020-02-03', NULL, 'ü%s'"
    )
    assert result.columns[0] == "a"
    day = datetime.date(2020, 2, 3)
    assert result.rows == [(1, 2, Decimal("1.50"), "x", day, None, "ü%s")]
    assert session.execute("SET work_mem = '4MB'").rows == []
    session.close()
    session.close()


def test_a_statement_is_planned_anew_however_often_it_is_run(postgres: PostgresTarget) -> None:
    session = postgres.connect()
    for _ in range(8):
        session.execute("SELECT count(*) FROM pg_class")
    assert session.execute("SELECT * FROM pg_prepared_statements").rows == []
    session.close()


def test_a_rejected_statement_leaves_the_session_usable(postgres: PostgresTarget) -> None:
    session = postgres.connect()
    with pytest.raises(DatabaseError, match=r"nothing.*42P01"):
        session.execute("SELECT * FROM nothing")
    assert session.execute("SELECT 1").rows == [(1,)]
    session.close()


def test_a_server_that_answers_no_more_does_not_hold_a_cancelled_statement(
    postgres: PostgresTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "HEED_S", 0.2)
    with Proxy(Path(postgres.wire()["host"]) / ".s.PGSQL.5432") as proxy:
        url = f"postgresql://dyno@127.0.0.1:{proxy.port}/postgres"
        target = targets.open_target(targets.parse(url), Path("/nowhere"), LIMITS)
        session = target.connect()
        failed: list[DynoError] = []

        def ask() -> None:
            try:
                session.execute("SELECT pg_sleep(600)")
            except DynoError as error:
                failed.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        wait_until(lambda: session_is_busy(postgres, "pg_sleep(600)"), "the statement")
        proxy.swallow()
        session.cancel()
        thread.join(30)
        assert [error.kind for error in failed] == ["connection_lost"]
        session.close()
    # The server does not know that nobody waits any more, and others vacuum what it would see.
    sleeping = "pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'"
    with closing(postgres.connect()) as own:
        own.execute(f"SELECT pg_terminate_backend(pid) FROM {sleeping}")
    wait_until(lambda: not session_is_busy(postgres, "pg_sleep(600)"), "the end of the statement")


def session_is_busy(postgres: PostgresTarget, text: str) -> bool:
    """Whether a session of the server runs a statement that contains ``text``."""
    session = postgres.connect()
    try:
        active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active'"
        # The asking statement contains the text, too.
        query = f"{active} AND query LIKE '%{text}%'"
        return int(session.execute(query).rows[0][0]) > 1
    finally:
        session.close()


def test_a_connection_is_kept_if_its_statement_ends_after_a_cancellation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "HEED_S", 3600.0)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        heed = Heed()
        heed.cancelled(ours.fileno())  # nothing runs
        heed.begin()
        for _ in range(2):
            heed.cancelled(ours.fileno())
        waiting = [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
        assert len(waiting) == 1
        heed.end()
        assert not waiting[0].is_alive()
        ours.sendall(b"x")
        assert theirs.recv(1) == b"x"


def test_a_statement_is_cancelled_from_another_thread(postgres: PostgresTarget) -> None:
    session, other = postgres.connect(), postgres.connect()
    caught: list[TargetError] = []

    def sleep() -> None:
        try:
            session.execute("SELECT pg_sleep(3600)")
        except TargetError as error:
            caught.append(error)

    thread = threading.Thread(target=sleep)
    thread.start()
    active = (
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)' AND state = 'active'"
    )
    wait_until(lambda: other.execute(active).rows, "the statement")
    session.cancel()
    thread.join(300)
    assert [error.kind for error in caught] == ["timeout"]
    assert session.execute("SELECT 1").rows == [(1,)]
    session.close()
    other.close()


def test_a_session_ended_by_the_server_is_lost(postgres: PostgresTarget) -> None:
    session, other = postgres.connect(), postgres.connect()
    pid = session.execute("SELECT pg_backend_pid()").rows[0][0]
    other.execute(f"SELECT pg_terminate_backend({pid}, 10000)")
    with pytest.raises(TargetError) as caught:
        session.execute("SELECT 1")
    assert caught.value.kind == "connection_lost"
    other.close()


def test_a_server_at_a_url(postgres: PostgresTarget) -> None:
    with at(postgres) as target:
        assert target.capabilities.load is True
        assert target.facts().version.startswith("PostgreSQL 18")
        assert target.process_ids() == postgres.process_ids()
        assert target.data_paths() == postgres.data_paths()
        wire = target.wire()
        assert wire == {**postgres.wire(), "host": wire["host"]}
        assert target.wire("tpcc")["schema"] == "dyno_tpcc"


def test_an_unknown_database_is_named(postgres: PostgresTarget) -> None:
    with (
        pytest.raises(TargetError, match='database "nope" does not exist'),
        at(postgres, database="nope"),
    ):
        pass


@pytest.fixture
def guarded(postgres: PostgresTarget) -> Iterator[str]:
    """A user who must give a password."""
    session = postgres.connect()
    rules = Path(session.execute("SHOW hba_file").rows[0][0])
    before = rules.read_text()
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    session.execute("CREATE ROLE guarded LOGIN PASSWORD 's3cret!'")
    session.execute("SELECT pg_reload_conf()")
    wait_until(
        lambda: (
            session.execute("SELECT 1 FROM pg_hba_file_rules WHERE user_name = '{guarded}'").rows
        ),
        "the rule",
    )
    yield "guarded"
    rules.write_text(before)
    session.execute("SELECT pg_reload_conf()")
    session.execute("DROP ROLE guarded")
    session.close()


def test_passwords(
    postgres: PostgresTarget, guarded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))

    def refused() -> TargetError:
        with pytest.raises(TargetError) as caught, at(postgres, guarded):
            pass
        return caught.value

    # The reload reaches the server's processes a moment after it is asked for.
    wait_until(lambda: _asks(postgres, guarded), "the server to ask for a password")
    error = refused()
    assert error.kind == "denied"
    assert "requires a password" in str(error)

    monkeypatch.setenv("PGPASSWORD", "wrong")
    error = refused()
    assert "rejected the password" in str(error)
    assert "wrong" not in str(error)
    monkeypatch.delenv("PGPASSWORD")

    folder = postgres.wire()["host"]
    (tmp_path / "pgpass").write_text(f"{folder}:5432:*:{guarded}:s3cret!\n")
    (tmp_path / "pgpass").chmod(0o600)
    with at(postgres, guarded) as target:
        assert target.wire()["password"] == "s3cret!"
        assert "s3cret" not in target.url.redacted
        assert "s3cret" not in str(target.facts())


def _asks(postgres: PostgresTarget, user: str) -> bool:
    try:
        at(postgres, user).__enter__()
    except TargetError:
        return True
    return False


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u@127.0.0.1:1/d", "PostgreSQL at 127.0.0.1:1 does not respond; start it"),
        ("postgresql://u@/d?host=/nowhere", "/nowhere"),
        ("postgresql://u@no-such-host.invalid/d", "cannot be resolved"),
    ],
)
def test_no_server(url: str, expected: str) -> None:
    target = targets.open_target(targets.parse(url), Path("/nowhere"), LIMITS)
    with pytest.raises(TargetError) as caught, target:
        pass
    assert expected in str(caught.value)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)

"""CREATE DATABASE as a task: copies are complete, nothing stays, and what is not Dyno's is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.maintenance import Job, Preparing, Sized, Stepped, database, prepare
from dyno.errors import DiskFullError, Interrupted, UsageError
from dyno.targets import space
from dyno.targets.postgresql import newdatabase, removal
from dyno.targets.postgresql.target import PostgresTarget
from tests.targets.conftest import LIMITS, ask

TASK = "create-database"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newdatabase, "ROWS", 4096)


@pytest.fixture
def server(postgres: PostgresTarget) -> Iterator[PostgresTarget]:
    yield postgres
    with closing(postgres.connect()) as session:
        for name in (newdatabase.TEMPLATE, newdatabase.COPY):
            session.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def left(server: PostgresTarget) -> list[str]:
    rows = ask(server, "SELECT datname FROM pg_database WHERE datname LIKE 'dyno%' ORDER BY 1")
    return [row[0] for row in rows]


def ready(server: PostgresTarget) -> Job:
    """The job, with its template."""
    job = prepare(server, "tpch", TASK)
    assert isinstance(job, Preparing)
    job.prepare()
    return job


def silent(done: int, total: int, text: str) -> None:
    pass


def test_each_strategy_copies_all_of_the_template(server: PostgresTarget) -> None:
    with closing(ready(server)) as job:
        assert left(server) == ["dyno_template"]
        for _ in range(2):
            checks = job.run(threading.Event(), silent)
            assert [(one.name, one.passed) for one in checks] == [
                ("create-database wal_log", True), ("create-database file_copy", True),
            ]  # fmt: skip
            assert left(server) == ["dyno_template"]
        assert isinstance(job, Stepped)
        assert isinstance(job, Sized)
        assert set(job.step_seconds) == set(job.step_bytes) == {"wal_log", "file_copy"}
        assert all(seconds > 0 for seconds in job.step_seconds.values())
        size = job.step_bytes["wal_log"]
        assert size > 4096 * 1000
        assert job.estimate.size == 2 * size
    assert left(server) == []


def test_an_estimate_makes_nothing(server: PostgresTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newdatabase, "ROWS", 1 << 18)
    with closing(prepare(server, "tpch", TASK)) as job:
        assert job.estimate.size == 2 * (256 << 20)
        assert left(server) == []


def test_an_incomplete_copy_is_found(
    server: PostgresTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(ready(server)) as job:
        monkeypatch.setattr(newdatabase, "ROWS", 4097)
        assert [one.passed for one in job.run(threading.Event(), silent)] == [False, False]


def test_a_stopped_one_leaves_nothing_behind(server: PostgresTarget) -> None:
    stop = threading.Event()
    with closing(ready(server)) as job:

        def progress(done: int, total: int, text: str) -> None:
            if done == 1:
                stop.set()

        with pytest.raises(Interrupted):
            job.run(stop, progress)
    assert left(server) == []


def test_what_a_killed_one_left_goes_with_the_next_or_with_clean(server: PostgresTarget) -> None:
    killed = ready(server)
    with closing(ready(server)) as job:  # makes the template anew
        assert all(one.passed for one in job.run(threading.Event(), silent))
        with closing(server.connect()) as session:
            assert "database dyno_template" in removal.marked(session)
            assert "database dyno_template" in removal.remove(session)
    killed.close()
    assert left(server) == []


def test_a_database_of_somebody_elses_stays(server: PostgresTarget) -> None:
    ask(server, "CREATE DATABASE dyno_copy")
    with pytest.raises(UsageError, match="a database dyno_copy without Dyno's mark"):
        prepare(server, "tpch", TASK)
    with closing(server.connect()) as session:
        assert not [one for one in removal.marked(session) if one.startswith("database")]
    assert left(server) == ["dyno_copy"]


def test_it_needs_a_right_and_space(
    server: PostgresTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(server.connect()) as session:
        session.execute("DROP ROLE IF EXISTS dyno_plain")
        session.execute("CREATE ROLE dyno_plain LOGIN")
        try:
            found = newdatabase.new_database(lambda **_: server._open(user="dyno_plain"))
        finally:
            session.execute("DROP ROLE dyno_plain")
    assert isinstance(found, str)
    assert "may not create databases" in found
    monkeypatch.setattr(space.shutil, "disk_usage", lambda _path: _Full())
    with pytest.raises(DiskFullError):
        prepare(server, "tpch", TASK)


class _Full:
    free = 0


def test_it_is_of_the_whole_server_and_others_say_why_not(tmp_path: Path) -> None:
    for name in ("postgresql", "mysql", "sqlite", "duckdb", "clickhouse"):
        target = targets.open_target(targets.parse(f"embedded:{name}"), tmp_path, LIMITS)
        if name == "postgresql":
            assert database(target, TASK, 2, None) is None
            continue
        with pytest.raises(UsageError, match=r"does not support create-database.*: \w+"):
            prepare(target, "tpch", TASK)

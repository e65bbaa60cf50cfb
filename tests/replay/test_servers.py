"""Logs that servers wrote, replayed against the same servers: every statement comes once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.bundle.reader import Bundle
from dyno.contracts.target import Limits, Target
from tests.mariadb import require_mariadb
from tests.process import document, dyno, end, no_server_left, servers, start, wait_for_phase
from tests.replay.logs import as_csv, shop, written
from tests.replay.test_replay import counts, recorded

pytestmark = pytest.mark.long

CREATE = "CREATE TABLE {item} (id int PRIMARY KEY, stock int, name varchar(20))"
FILL = {
    "postgresql": "INSERT INTO {item} SELECT g, 100, 'n' || g FROM generate_series(1, 500) g",
    "mysql": "INSERT INTO {item} SELECT seq, 100, concat('n', seq) FROM shop.seq_1_to_500",
}
LOGGING = {
    "logging_collector": "on",
    "log_destination": "csvlog,jsonlog",
    "log_filename": "test.log",
    "log_statement": "all",
    "log_disconnections": "on",
    "log_connections": "on",
    "log_timezone": "Europe/Berlin",
}


@contextmanager
def opened(name: str, out: Path, extra: dict[str, str]) -> Iterator[Target]:
    target: Any = targets.open_target(targets.parse(f"embedded:{name}"), out, Limits(1 << 30, 2))
    target._server.extra = extra  # pyright: ignore[reportPrivateUsage]
    with target:
        yield target


def made(target: Target, item: str = "item") -> None:
    """A table with rows."""
    with closing(target.connect()) as session:
        session.execute(CREATE.format(item=item))
        session.execute(FILL[target.name].format(item=item))


def work(target: Target, item: str = "item") -> None:
    """Sessions one beside the other: quotes, newlines, transactions, errors and a rollback."""
    with closing(target.connect()) as first, closing(target.connect()) as second:
        for number in range(40):
            one, other = (first, second) if number % 2 else (second, first)
            one.execute("BEGIN")
            one.execute(f"SELECT name FROM {item} WHERE id = {number + 1}")
            other.execute(f"SELECT count(*), 'it''s\n\"x\", ,' FROM {item} WHERE stock > {number}")
            one.execute(f"UPDATE {item} SET stock = stock - 1 WHERE id = {number + 1}")
            one.execute("COMMIT" if number % 5 else "ROLLBACK")


def replayed(log: Path, target: str, out: Path, *more: str) -> dict[str, Any]:
    where = ("--target", target, "--out", out, "--json", "--yes", "--speed", "4")
    done = dyno("replay", log, *where, *more)
    assert done.returncode in {0, 1}, done.stderr
    return document(done)


def test_logs_of_postgresql(tmp_path: Path) -> None:
    with opened("postgresql", tmp_path, {}) as target:
        made(target)
    with opened("postgresql", tmp_path, LOGGING) as target:
        work(target)
        with closing(target.connect()) as session:
            folder = Path(
                session.execute("SELECT current_setting('data_directory')").rows[0][0], "log"
            )
        logs = [
            written(tmp_path, (folder / f"test.{kind}").read_text(), f"log.{kind}")
            for kind in ("csv", "json")
        ]
    found: list[dict[str, int]] = []
    for log in logs:
        done = replayed(log, "embedded:postgresql", tmp_path)
        assert counts(done) == recorded(done)
        assert not any(
            one["errors"]
            for one in done["workloads"]["own_replay"]["levels"][0]["operations"].values()
        )
        found.append(counts(done))
    assert found[0] == found[1]
    assert found[0]["update_item"] == 40
    assert found[0]["rollback"] == 8
    no_server_left(tmp_path)


def test_a_session_is_open_until_it_was_closed(tmp_path: Path) -> None:
    """Its locks are, too: the second session waits for the end of the first one."""
    said = [
        (0.0, "a.1", "statement: SELECT pg_advisory_lock(7)"),
        (0.5, "a.2", "statement: SELECT 1 FROM pg_advisory_lock(7)"),
        (
            2.0,
            "a.1",
            "disconnection: session time: 0:00:02.000 user=app database=shop host=[local]",
        ),
        (4.0, "a.2", "statement: SELECT 2"),
    ]
    log = written(tmp_path, as_csv(said))
    where = ("--target", "embedded:postgresql", "--out", tmp_path, "--json", "--yes")
    done = dyno("replay", log, *where)
    assert done.returncode in {0, 1}, done.stderr
    (level,) = document(done)["workloads"]["own_replay"]["levels"]
    slowest = max(one["response_ms"]["p95"] for one in level["operations"].values())
    assert 1400 <= slowest < 3400
    no_server_left(tmp_path)


def test_a_general_log_of_mariadb(tmp_path: Path) -> None:
    require_mariadb()
    log = tmp_path / "general.log"
    with opened("mysql", tmp_path, {}) as target:
        with closing(target.connect()) as session:
            session.execute("CREATE DATABASE shop")
        made(target, "shop.item")
        with closing(target.connect()) as session:
            place = session.execute("SELECT @@datadir").rows[0][0]
            session.execute("SET GLOBAL general_log_file = 'test.log'")
            session.execute("SET GLOBAL general_log = 1")
        work(target, "shop.item")
        with closing(target.connect()) as session:
            session.execute("SET GLOBAL general_log = 0")
        log.write_bytes(Path(place, "test.log").read_bytes())
    done = replayed(log, "embedded:mysql", tmp_path)
    assert counts(done) == recorded(done)
    assert counts(done)["update_item"] == 40
    no_server_left(tmp_path)


def test_an_error_is_recorded_without_values_of_the_log(tmp_path: Path) -> None:
    said = [(n / 100, "a.1", "statement: select 'hunter2'::int") for n in range(8)]
    done = replayed(written(tmp_path, as_csv(said)), "embedded:postgresql", tmp_path)
    page = Path(done["sheet"])
    run = (page.parent / "run.json").read_text(encoding="utf-8")
    assert "22P02" in run
    assert "hunter2" not in run + page.read_text(encoding="utf-8") + str(done)
    no_server_left(tmp_path)


def test_it_asks_before_it_changes_rows(tmp_path: Path) -> None:
    log = written(tmp_path, as_csv(shop(16)))
    where = ("--target", "embedded:postgresql", "--out", tmp_path / "out")
    done = dyno("replay", log, *where, given="n\n")
    assert done.returncode == 0
    assert "4 statements that change or lock rows" in done.stderr
    assert "Nothing run" in done.stderr
    assert not (tmp_path / "out").exists()


def slow_log(folder: Path) -> Path:
    """A log of a minute."""
    said = [(n / 10, f"a.{n % 4 + 1}", f"statement: select {n}") for n in range(600)]
    return written(folder, as_csv(said))


def test_a_killed_server_and_an_interrupt_leave_a_readable_bundle(tmp_path: Path) -> None:
    log = slow_log(tmp_path)
    for place, hit in enumerate(("server", "interrupt")):
        out = tmp_path / str(place)
        process = start("replay", log, "--target", "embedded:postgresql", "--out", out, "--json")
        wait_for_phase(process, out, "oltp-replay-postgresql")
        if hit == "server":
            for server in servers(out):
                server.kill()
        else:
            os.kill(process.pid, signal.SIGINT)
        code, _, errors = end(process)
        assert code == (3 if hit == "server" else 130), errors
        (folder,) = (one for one in out.iterdir() if (one / "run.json").is_file())
        run = Bundle.open(folder).run
        assert run.status == ("failed" if hit == "server" else "interrupted")
        assert (folder / "sheet.html").is_file()
        no_server_left(out)

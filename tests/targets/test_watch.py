"""``dyno watch`` of a real server under planted loads, and through its restart."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dyno.bundle.reader import Bundle, list_bundles
from tests.process import document, dyno, start, wait_for_phase, wait_until
from tests.targets.conftest import public_folder
from tests.targets.debian import as_server, debian_server

SESSIONS = 6
Work = Callable[[psycopg.Connection[Any], int], None]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with public_folder() as folder, debian_server(folder, "fsync = on") as found:
        with psycopg.connect(found, autocommit=True) as session:
            session.execute("CREATE TABLE hot (id int PRIMARY KEY, n bigint)")
            session.execute("INSERT INTO hot SELECT g, 0 FROM generate_series(0, 99) g")
        yield found


def one_hot_row(session: psycopg.Connection[Any], _number: int) -> None:
    session.execute("UPDATE hot SET n = n + 1 WHERE id = 0")
    session.execute("SELECT count(*) FROM generate_series(1, 20000)")
    session.commit()


@contextlib.contextmanager
def loaded(url: str, work: Work) -> Generator[None]:
    """Sessions that repeat ``work`` within the block."""
    ended = threading.Event()

    def repeat(number: int) -> None:
        with psycopg.connect(url) as session:
            while not ended.is_set():
                work(session, number)

    threads = [threading.Thread(target=repeat, args=(number,)) for number in range(SESSIONS)]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        ended.set()
        for one in threads:
            one.join()


def limit_of(out: Path) -> Any:
    (bundle,) = list_bundles(out)
    return next(one for one in bundle.findings() if one.code.startswith("limit-"))


def test_one_hot_row_is_named_as_locks(url: str, tmp_path: Path) -> None:
    with loaded(url, one_hot_row):
        done = dyno("watch", url, "--for", "6s", "--out", tmp_path, "--json")
    found = document(done)["watch"]
    sessions = found["active_sessions"]
    assert max(sessions, key=lambda name: sessions[name]) == "lock", sessions
    message = limit_of(tmp_path).message
    assert "locks" in message, message
    assert "active sessions wait in" in message


def tables(url: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as session:
        return session.execute("SELECT schemaname, relname FROM pg_stat_user_tables").fetchall()


def test_a_recording_creates_nothing(url: str, tmp_path: Path) -> None:
    before = tables(url)
    done = dyno("watch", url, "--for", "3s", "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert tables(url) == before
    found = document(done)["watch"]
    assert found["hit_ratio"] is None or 0 <= found["hit_ratio"] <= 100


def pg_ctl(url: str, *words: str) -> None:
    folder = url.partition("host=")[2].partition("&")[0]
    (place, *_) = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1:]
    command = [*as_server(), str(place / "pg_ctl"), "-D", folder, "-w", "-l", f"{folder}/log"]
    subprocess.run([*command, *words], cwd="/", check=True, capture_output=True, timeout=60)


def readings(bundle: Bundle) -> int:
    text = (bundle.path / "samples.jsonl").read_text(encoding="utf-8")
    return text.count('"source":"database"')


@pytest.mark.long
def test_a_restart_is_waited_for_and_its_gap_recorded(url: str, tmp_path: Path) -> None:
    with start("watch", url, "--interval", "1s", "--out", tmp_path, "--json") as process:
        wait_for_phase(process, tmp_path, "watch")
        (bundle,) = list_bundles(tmp_path)
        wait_until(lambda: readings(bundle), "a reading of the database")
        pg_ctl(url, "stop", "-m", "fast")
        # The machine is still sampled: eight readings are a gap of the database of eight seconds.
        spool = bundle.path / "samples.jsonl"
        before = spool.read_text().count('"metric":"busy"')
        wait_until(lambda: spool.read_text().count('"metric":"busy"') >= before + 8, "8 s")
        seen = readings(bundle)
        pg_ctl(url, "start")
        wait_until(lambda: readings(bundle) > seen + 20, "readings after the restart")
        process.send_signal(2)
        out, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 1), errors
    (bundle,) = list_bundles(tmp_path)
    assert bundle.run.status == "done"
    (warning,) = (one for one in bundle.findings() if one.code == "unobserved-database")
    assert "in 1 gap" in warning.message
    assert '"gaps": 1' in out
    rates = bundle.table("samples").to_pylist()
    values = [row["value"] for row in rates if row["source"] == "database"]
    assert min(values) >= 0  # a restart resets counters: no rate is negative

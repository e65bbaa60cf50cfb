"""A password in a URL, also in one that cannot be read: nowhere but in the user's own hands."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from tests.hostile import Hostile
from tests.process import dyno, end, start, wait_until

SECRET = "hunter2"

MALFORMED = [
    f"postgresql:u:{SECRET}@h/x",
    f"mysql:u:{SECRET}@h/x",
    f"duckdb:u:{SECRET}@h",
    f"duckdb://u:{SECRET}@h/x",
    f"sqlite://u:{SECRET}@h/x",
    f"embedded:postgresql://u:{SECRET}@h",
    f"host=h password={SECRET}",
    f"host=h password = '{SECRET} x'",
    f"bench:p@ss/{SECRET}@localhost",
    f"postgresql//u:{SECRET}@h",
    f"postgresql://u:12?x={SECRET}@h/d",
    f"postgresql://u:%zz{SECRET}@h/d",
    f"postgresql://u@h/d?password={SECRET}&{SECRET}",
    f"postgresql://u@h/d?password=a&{SECRET}=b",
    f"mysql://u:{SECRET}/x@h/d",
    f"mysql://u:12/{SECRET}@h/d",
    f"mysql://u@h/d?password={SECRET}",
]

WORDS = [f"embedded:{SECRET}", f"bench:{SECRET}", f"postgres:{SECRET}"]
"""No password by their looks; shown by nobody who takes a target all the same."""

VERBS = [
    ("load", "tpcc", "--scale", "1", "--target"),
    ("run", "tpcc", "--users", "1", "--target"),
    ("run", "tpch", "--target"),
    ("check", "tpch", "--target"),
    ("clean", "--yes", "--target"),
    ("doctor",),
    ("io",),
    ("report",),
    ("compare",),
    ("study", "compare", "tpcc", "--minutes", "1", "--target"),
    ("load", "tpcc", "--scale", "1", "--json", "--target"),
    ("doctor", "--json"),
]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_an_unreadable_url_is_never_shown(verb: tuple[str, ...], out: Path) -> None:
    for url in [*MALFORMED, *(WORDS if verb[-1] == "--target" else [])]:
        done = dyno(*verb, url, "--out", out)
        assert done.returncode in (2, 3), (url, done.stderr)
        assert SECRET not in done.stdout + done.stderr, url
        assert "Traceback" not in done.stderr
    assert written(out) == []


@pytest.mark.parametrize("joined", ["--target=", "--with=target=", "--targt="])
def test_an_option_and_its_value_in_one_word(joined: str, out: Path) -> None:
    for url in MALFORMED:
        done = dyno("study", "compare", "tpcc", f"{joined}{url}", "--minutes", "1", "--out", out)
        assert done.returncode == 2, (url, done.stderr)
        assert SECRET not in done.stdout + done.stderr, url
    assert written(out) == []


def test_words_that_belong_to_no_option(out: Path) -> None:
    done = dyno("load", "tpcc", "--target", "host=h", f"password={SECRET}", "--out", out)
    assert done.returncode == 2
    assert SECRET not in done.stderr


@pytest.mark.parametrize("scheme", ["mysql", "postgresql"])
def test_a_running_dyno_does_not_show_it_in_the_process_list(scheme: str, out: Path) -> None:
    with Hostile("silent", scheme) as server:
        url = f"{scheme}://me:{SECRET}@127.0.0.1:{server.port}/d?connect_timeout=60"
        running = start("load", "tpcc", "--scale", "1", "--target", url, "--out", out)
        try:
            wait_until(lambda: server.accepted or running.poll() is not None, "a connection")
            assert running.poll() is None
            family = [running.pid, *(one.pid for one in psutil.Process(running.pid).children())]
            shown = b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in family)
        finally:
            running.terminate()
            _, stdout, stderr = end(running)
    assert SECRET.encode() not in shown
    assert f"{scheme}://me:***@127.0.0.1:{server.port}".encode() in shown
    assert SECRET not in stdout + stderr
    assert stderr.count("PGPASSWORD") == 1
    assert written(out) == []
    assert list(out.glob("*/run.json"))


def test_what_holds_no_password_is_left_alone(out: Path) -> None:
    done = dyno("doctor", "embedded:sqlite", "--out", out)
    assert "PGPASSWORD" not in done.stderr


def written(out: Path) -> list[Path]:
    """Files below ``out`` that hold the secret, in their names or content."""
    found: list[Path] = []
    for folder, _, names in os.walk(out):
        for path in (Path(folder) / name for name in names):
            if SECRET in str(path) or SECRET.encode() in path.read_bytes():
                found.append(path)
    return found

"""The server killed under Dyno: a clear line, exit 3, what was measured kept."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from dyno.bundle.reader import list_bundles
from dyno.confinement import places
from dyno.errors import UsageError
from tests.conftest import missing
from tests.process import (
    assert_valid,
    dyno,
    end,
    no_server_left,
    servers,
    start,
    wait_for_phase,
    wait_until,
)

TARGET = ("--target", "embedded:postgresql")


def kill_postmaster(out: Path) -> None:
    found = wait_until(lambda: servers(out), "a server")
    pids = {process.pid for process in found}
    for process in found:
        if process.ppid() not in pids:
            os.kill(process.pid, signal.SIGKILL)


def concluded(out: Path, code: int, errors: str) -> None:
    assert code == 3, errors
    lines = [line for line in errors.splitlines() if line.startswith("dyno:")]
    assert lines, errors
    assert "PostgreSQL" in lines[0]
    assert "Traceback" not in errors
    no_server_left(out)
    bundle = list_bundles(out)[0]
    assert bundle.run.status == "failed"
    assert bundle.run.validity.valid is False
    assert bundle.run.error


@pytest.mark.long
def test_killed_during_the_load(out: Path) -> None:
    process = start("load", "tpch", *TARGET, "--scale", "1", "--json", "--out", out)
    wait_for_phase(process, out, "load-tpch-postgresql")
    kill_postmaster(out)
    code, _, errors = end(process)
    concluded(out, code, errors)


@pytest.fixture
def loaded(out: Path) -> Path:
    assert_valid(dyno("load", "tpcc", *TARGET, "--scale", "1", "--json", "--out", out))
    return out


@pytest.mark.long
def test_killed_during_the_run(loaded: Path) -> None:
    process = start(
        "run", "tpcc", *TARGET, "--users", "4", "--warmup", "1s", "--duration", "60s",
        "--json", "--out", loaded,
    )  # fmt: skip
    wait_for_phase(process, loaded, "oltp-tpcc")
    spool = "*/ops/users-4.jsonl"
    wait_until(lambda: any(file.stat().st_size for file in loaded.glob(spool)), "an interval")
    kill_postmaster(loaded)
    code, _, errors = end(process)
    concluded(loaded, code, errors)
    assert "dyno: PostgreSQL was killed (signal 9)." in errors
    assert list_bundles(loaded)[0].table("ops/users-4").num_rows > 0

    again = dyno("run", "tpcc", *TARGET, "--duration", "2s", "--warmup", "1s", "--out", loaded)
    assert again.returncode in {0, 1}, again.stderr
    assert "Consistency" in again.stderr
    outgrown(loaded)


def outgrown(loaded: Path) -> None:
    """A server that is given as much memory as all of it may have."""
    try:
        places.find(["memory"])
    except UsageError as error:
        missing(f"a control group for memory ({error})")
    memory = ("--limit", "memory=64MB", "--set", "memory=64MB")
    words = ("--users", "4", "--warmup", "1s", "--duration", "60s")
    done = dyno("run", "tpcc", *TARGET, *words, *memory, "--json", "--out", loaded)
    concluded(loaded, done.returncode, done.stderr)
    killed = "PostgreSQL was killed: memory limit of 64MB (--limit memory)."
    assert f"dyno: {killed}" in done.stderr
    run = list_bundles(loaded)[0].run
    assert run.plan["limits"] == {"memory": "64MB"}
    assert run.confined is not None
    assert run.confined.killed
    assert "resource-limits" in {reason.code for reason in run.validity.reasons}


@pytest.mark.long
def test_a_load_that_did_not_end_is_not_run(out: Path) -> None:
    process = start("load", "tpcc", *TARGET, "--scale", "5", "--out", out)
    wait_for_phase(process, out, "load-tpcc-postgresql")
    os.kill(process.pid, signal.SIGINT)
    assert end(process)[0] == 130
    run = dyno("run", "tpcc", *TARGET, "--duration", "1s", "--out", out)
    assert run.returncode in {2, 3}
    assert "Load it" in run.stderr

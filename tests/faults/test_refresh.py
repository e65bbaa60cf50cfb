"""A run killed between its refresh functions: found, reported and restored by the next run."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from dyno import targets
from dyno.bundle.reader import list_bundles
from tests.conftest import missing
from tests.process import assert_valid, document, dyno, end, start, wait_until

LEFT = "rows left by refresh functions"


@pytest.fixture(
    params=[
        "duckdb",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("mysql", "postgresql", "sqlite")),
    ]
)
def loaded(request: pytest.FixtureRequest, out: Path) -> tuple[Path, tuple[str, str]]:
    if lacks := targets.lacks(request.param):
        missing(lacks)
    target = ("--target", f"embedded:{request.param}")
    made = dyno("load", "tpch", *target, "--scale", "0.01", "--json", "--out", out)
    assert_valid(made)
    return out, target


def after_a_pair(process: subprocess.Popen[str], out: Path) -> None:
    """Waits until an RF2 is done, so that loaded rows are gone."""

    def done() -> bool:
        if process.poll() is not None:
            raise AssertionError(f"dyno ended too soon: {process.communicate()}")
        spools = out.glob("*/queries.jsonl")
        return any('"rf2"' in spool.read_text(encoding="utf-8") for spool in spools)

    wait_until(done, "a second refresh function")


def failed(out: Path) -> set[str]:
    return {check.name for check in list_bundles(out)[0].checks() if check.passed is False}


@pytest.mark.long
def test_a_killed_refresh_is_detected_and_restored(
    loaded: tuple[Path, tuple[str, str]],
) -> None:
    out, target = loaded
    run = ("run", "tpch", *target, "--test", "throughput", "--streams", "20", "--no-warming")
    process = start(*run, "--json", "--out", out)
    after_a_pair(process, out)
    os.kill(process.pid, signal.SIGKILL)
    end(process)

    found = dyno("check", "tpch", *target, "--json", "--out", out)
    assert found.returncode == 1, found.stderr
    assert LEFT in failed(out)
    left = next(check for check in list_bundles(out)[0].checks() if check.name == LEFT)
    assert left.detail["unrestored"] == 20
    assert "`dyno run tpch` restores the data" in left.message

    again = dyno("run", "tpch", *target, "--no-warming", "--json", "--out", out)
    assert again.returncode in {0, 1}, again.stderr
    assert "Restored the data" in again.stderr
    # The published answers are right again, on data that lacked orders before.
    answers = [
        check.passed
        for check in list_bundles(out)[0].checks()
        if check.name.startswith("answers-expected")
    ]
    assert len(answers) == 22
    assert all(answers)
    check = dyno("check", "tpch", *target, "--json", "--out", out)
    assert check.returncode == 0, check.stderr
    assert not failed(out)
    # What the killed run used is used: the next run has the sets after it.
    power = dyno("run", "tpch", *target, "--no-warming", "--refresh", "--json", "--out", out)
    assert document(power)["bundle"], power.stderr
    phases = list_bundles(out)[0].run.phases
    (first,) = [
        one.detail.first_set for one in phases if getattr(one.detail, "test", None) == "power"
    ]
    assert first == 20

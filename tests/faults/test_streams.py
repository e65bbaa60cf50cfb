"""Ctrl-C and a killed server while streams and refresh functions run: nothing of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from dyno import _core, targets
from dyno.bundle.reader import list_bundles
from dyno.contracts.target import Limits, Loaded, LoadPlan
from tests.process import dyno, end, no_server_left, servers, start, wait_until

TARGET = ("--target", "embedded:postgresql")
# So many users that the test goes on for longer than it takes to notice that it began.
RUN = ("run", "tpch", *TARGET, "--test", "throughput", "--streams", "20", "--no-warming")


@pytest.fixture
def loaded(out: Path) -> Path:
    import threading

    url, limits = targets.parse("embedded:postgresql"), Limits(1 << 30, 2)
    with targets.open_target(url, out, limits) as target:
        target.create_tables("tpch", replace=False)
        target.load(LoadPlan("tpch", 0.01, seed=1, streams=2), _core.Control())
        target.index("tpch", threading.Event(), lambda *_: None)
        target.mark("tpch", Loaded(0.01, 1, complete=True))
    return out


def under_way(process: subprocess.Popen[str], out: Path) -> None:
    """Waits until the first rows of the refresh functions are there."""

    def begun() -> bool:
        if process.poll() is not None:
            raise AssertionError(f"dyno ended too soon: {process.communicate()}")
        spools = out.glob("*/queries.jsonl")
        return any('"rf1"' in spool.read_text(encoding="utf-8") for spool in spools)

    wait_until(begun, "a refresh function")


@pytest.mark.long
def test_ctrl_c_stops_all_streams_and_the_data_is_whole(loaded: Path) -> None:
    process = start(*RUN, "--json", "--out", loaded)
    under_way(process, loaded)
    os.kill(process.pid, signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    assert "Traceback" not in errors
    no_server_left(loaded)
    bundle = list_bundles(loaded)[0]
    assert bundle.run.status == "interrupted"
    assert 0 < bundle.table("queries").num_rows < 20 * 22  # the streams were under way
    check = dyno("check", "tpch", *TARGET, "--json", "--out", loaded)
    assert check.returncode == 0, check.stderr
    assert all(item.passed for item in list_bundles(loaded)[0].checks())


@pytest.mark.long
def test_a_killed_server_ends_the_run_and_the_next_one_finds_whole_data(loaded: Path) -> None:
    process = start(*RUN, "--json", "--out", loaded)
    under_way(process, loaded)
    found = servers(loaded)
    pids = {server.pid for server in found}
    for server in found:
        if server.ppid() not in pids:
            os.kill(server.pid, signal.SIGKILL)
    code, stdout, errors = end(process)
    assert code == 3, errors
    assert "PostgreSQL" in errors
    assert "Traceback" not in errors
    assert '"valid": false' in stdout
    bundle = list_bundles(loaded)[0]
    assert bundle.run.status == "failed"
    # Which statement met the end is chance: of a query, or one that counts refreshed rows.
    reasons = [reason.message for reason in bundle.run.validity.reasons]
    assert any("PostgreSQL was killed" in reason for reason in reasons), reasons
    again = dyno("run", "tpch", *TARGET, "--no-warming", "--json", "--out", loaded)
    assert again.returncode in {0, 1}, again.stderr
    check = dyno("check", "tpch", *TARGET, "--json", "--out", loaded)
    assert check.returncode == 0, check.stderr

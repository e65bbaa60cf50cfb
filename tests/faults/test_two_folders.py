"""Two at once with folders of their own, on the same engine: neither meets the other's server."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from dyno.bundle.reader import list_bundles
from tests.mariadb import require_mariadb
from tests.process import (
    document,
    dyno,
    end,
    no_server_left,
    servers,
    start,
    wait_for_phase,
    wait_until,
)


@pytest.mark.parametrize("engine", ["postgresql", "mysql"])
@pytest.mark.long
def test_one_is_killed_and_starts_again_while_the_other_runs(tmp_path: Path, engine: str) -> None:
    if engine == "mysql":
        require_mariadb()
    target = ("--target", f"embedded:{engine}")
    one, two = tmp_path / "one", tmp_path / "two"
    loads = [
        start("load", "tpch", *target, "--scale", "0.01", "--seed", seed, "--out", out)
        for seed, out in (("1", one), ("2", two))
    ]
    assert {end(load)[0] for load in loads} <= {0, 1}  # 1: the machine was busy
    words = ("run", "tpch", *target, "--cold-each-query", "--out")
    lasting, killed = start(*words, one), start(*words, two)
    wait_for_phase(lasting, one, "power")
    wait_for_phase(killed, two, "power")
    for out in (one, two):  # it is started anew before each query
        wait_until(lambda out=out: servers(out), f"the server of {out}")
    refused = dyno("check", "tpch", *target, "--out", one)
    assert refused.returncode == 3
    assert str(lasting.pid) in refused.stderr
    os.kill(killed.pid, signal.SIGKILL)
    end(killed)
    no_server_left(two)
    again = dyno("check", "tpch", *target, "--json", "--out", two)
    assert again.returncode in {0, 1}, again.stderr
    assert document(again)["run"] == list_bundles(two)[0].run.run
    code, _, errors = end(lasting)
    assert code in {0, 1}, errors
    bundle = list_bundles(one)[0]
    assert bundle.run.status == "done"
    assert all(phase.status == "done" for phase in bundle.run.phases)
    assert set(bundle.table("queries")["error"].to_pylist()) == {None}
    assert {check.passed for check in bundle.checks()} <= {True, None}
    no_server_left(one)

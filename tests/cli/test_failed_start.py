"""A start that fails measures nothing: it is not listed, and it is not the last run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno.bundle.reader import find_bundle, list_bundles
from dyno.errors import UsageError
from tests.process import document, dyno

NULL = ("run", "tpcc", "--target", "null:?mean_us=500&scale=2", "--users", "1", "--warmup", "0.1s")


def test_the_last_run_is_the_last_that_measured(out: Path) -> None:
    for target in ("postgresql://bench@db1.invalid/bench", "mysql://bench@127.0.0.1:1/bench"):
        failed = dyno("run", "tpcc", "--target", target, "--out", out)
        assert failed.returncode == 3
        assert failed.stdout == ""
        (error,) = [line for line in failed.stderr.splitlines() if line.startswith("dyno: ")]
        assert target.split("@")[1].split("/")[0].split(":")[0] in error
    with pytest.raises(UsageError, match="has measured anything"):
        find_bundle(out, "last")
    listed = dyno("runs", "list", "--out", out)
    assert "2 runs without measurements not listed" in listed.stdout
    assert json.loads(dyno("runs", "list", "--json", "--out", out).stdout) == []

    measured = document(dyno(*NULL, "--duration", "1s", "--json", "--out", out))["run"]
    typo = ("run", "tpch", "--target", "postgresql://bench@db1.invalid/bench")
    assert dyno(*typo, "--out", out).returncode == 3
    last = document(dyno("report", "last", "--json", "--out", out))
    assert last["run"] == measured
    assert find_bundle(out, "last").run.run == measured
    listed = json.loads(dyno("runs", "list", "--json", "--out", out).stdout)
    assert [row["run"] for row in listed] == [measured]
    # Each has a bundle all the same, which says what failed.
    every = json.loads(dyno("runs", "list", "--all", "--json", "--out", out).stdout)
    assert len(every) == len(list_bundles(out)) == 4
    assert {row["status"] for row in every if row["run"] != measured} == {"failed"}

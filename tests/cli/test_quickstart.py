"""Quickstart replaces what it made itself; what `dyno load` made, only when it is told to."""

from __future__ import annotations

import json
from pathlib import Path

from dyno import targets
from dyno.targets.base import Limits, Loaded
from tests.process import dyno

QUICK = ("quickstart", "--quick", "--scale", "0.01", "--quiet", "--json")
LOAD = ("load", "tpch", "--target", "embedded:duckdb", "--scale", "0.02")


def loaded(out: Path) -> Loaded | None:
    url = targets.parse("embedded:duckdb")
    with targets.open_target(url, out, Limits(256 << 20, 2)) as target:
        return target.loaded("tpch")


def test_loaded_data_stays_unless_told(out: Path) -> None:
    assert dyno(*LOAD, "--out", out).returncode in {0, 1}
    before = loaded(out)
    assert before == Loaded(0.02, 1, complete=True)
    refused = dyno(*QUICK, "--out", out)
    assert refused.returncode == 2
    assert "--replace" in refused.stderr
    assert "scale 0.02" in refused.stderr
    assert loaded(out) == before
    document = json.loads(refused.stdout)
    assert not list(Path(document["bundle"]).glob("io.*"))  # before any measurement
    assert dyno(*QUICK, "--replace", "--out", out).returncode in {0, 1}
    assert loaded(out) == Loaded(0.01, 1, complete=True)
    # Another size of quickstart's own replaces what quickstart made.
    again = dyno("quickstart", "--quick", "--scale", "0.02", "--quiet", "--out", out)
    assert again.returncode in {0, 1}, again.stderr
    assert loaded(out) == Loaded(0.02, 1, complete=True)

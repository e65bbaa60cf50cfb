"""Quickstart replaces its own data; that of `dyno load` only with --replace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.target import Limits, Loaded
from tests.process import dyno, end, start
from tests.quick import SHORT, resize

LOAD = ("load", "tpch", "--target", "embedded:duckdb", "--scale", "0.02")


def loaded(out: Path) -> Loaded | None:
    url = targets.parse("embedded:duckdb")
    with targets.open_target(url, out, Limits(256 << 20, 2)) as target:
        return target.loaded("tpch")


def quickstart(*args: str | Path) -> tuple[int, str, str]:
    """In a process that heeds what ``resize`` asked for."""
    return end(start("quickstart", "--quick", "--quiet", *args))


@pytest.mark.long
def test_loaded_data_stays_without_replace(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resize(monkeypatch, tmp_path, SHORT)
    assert dyno(*LOAD, "--out", out).returncode in {0, 1}
    before = loaded(out)
    assert before == Loaded(0.02, 1, complete=True)
    code, output, errors = quickstart("--scale", "0.01", "--json", "--out", out)
    assert code == 2
    assert "--replace" in errors
    assert "scale 0.02" in errors
    assert loaded(out) == before
    document = json.loads(output)
    assert not list(Path(document["bundle"]).glob("io.*"))  # before any measurement
    code, _, errors = quickstart("--scale", "0.01", "--replace", "--out", out)
    assert code in {0, 1}, errors
    assert loaded(out) == Loaded(0.01, 1, complete=True)
    # Another size of quickstart's own replaces what quickstart made.
    code, _, errors = quickstart("--scale", "0.02", "--out", out)
    assert code in {0, 1}, errors
    assert loaded(out) == Loaded(0.02, 1, complete=True)

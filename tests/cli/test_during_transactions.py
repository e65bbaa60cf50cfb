"""Each piece of maintenance that a target has, beside its transactions, on real databases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno.bundle.reader import Bundle
from tests.mariadb import require_mariadb
from tests.process import dyno, spoilt

HAS = {
    "postgresql": ("reindex", "integrity-check", "backup", "vacuum"),
    "mysql": ("reindex", "integrity-check", "backup"),
    "sqlite": ("reindex", "integrity-check", "backup"),
}
WRITES_NOTHING = {"integrity-check", "vacuum"}


USUAL = {("postgresql", "backup")}
"""Run by every `make test`."""


@pytest.fixture(scope="module")
def outs() -> dict[str, Path]:
    """Where what is loaded lies, by target."""
    return {}


@pytest.fixture
def loaded(
    target: str, outs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    url = f"embedded:{target}"
    if target == "mysql":
        require_mariadb()
    if target not in outs:
        out = tmp_path_factory.mktemp(target)
        done = dyno("load", "tpcc", "--target", url, "--scale", "1", "--quiet", "--out", out)
        assert done.returncode in {0, 1}, done.stderr
        outs[target] = out
    return outs[target], url


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "name"),
    [
        pytest.param(target, name, marks=() if (target, name) in USUAL else pytest.mark.long)
        for target, names in HAS.items()
        for name in names
    ],
)
def test_its_cost_its_space_and_its_time_are_reported(loaded: tuple[Path, str], name: str) -> None:
    out, url = loaded
    done = dyno(
        "run", "tpcc", "--target", url, "--users", "2", "--warmup", "200ms", "--duration", "2s",
        "--during", name, "--no-criteria", "--json", "--out", out,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    codes = spoilt(document)
    assert codes <= {"unsteady", "client-bound"}, document["reasons"]
    (entry,) = document["maintenance"]
    assert entry["error"] is None
    assert entry["rounds"] >= 1
    assert entry["seconds"] > 0
    assert min(entry["before_tps"], entry["during_tps"], entry["after_tps"]) > 0
    assert entry["during_change_percent"] == pytest.approx(
        100 * (entry["during_tps"] / entry["before_tps"] - 1)
    )
    assert (entry["database"], entry["databases"]) == (None, [])
    if name in WRITES_NOTHING:
        assert entry["space_estimate_bytes"] == 0
    else:
        assert min(entry["space_peak_bytes"], entry["space_estimate_bytes"]) > 0
    assert (entry["written_bytes"] is not None) is (name == "backup")
    bundle = Bundle.open(Path(document["bundle"]))
    found = [check for check in bundle.checks() if check.name.startswith(name)]
    assert found
    assert all(check.passed for check in found)
    assert document["tpcc"]["consistency"] is True
    assert not (out / "scratch").exists()
    # One line in the terminal: the loss, the throughput before and during it, and its length.
    shown = done.stderr.replace("\n", " ")
    start = f"Maintenance   {name} {entry['during_change_percent']:+.1f} %"
    assert start in shown
    assert " /s) in " in shown

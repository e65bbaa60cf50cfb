"""``--estimate-only``: the space of a task is estimated, and nothing runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.reader import Bundle
from tests.process import assert_valid, dyno

TARGET = ("tpch", "--target", "embedded:sqlite", "--out")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("estimated")
    done = dyno("load", *TARGET, out, "--scale", "0.01", "--json")
    assert done.returncode in {0, 1}, done.stderr
    return out


def test_an_estimate_alone(loaded: Path) -> None:
    done = dyno("run", *TARGET, loaded, "--during", "reindex", "--estimate-only", "--json")
    found = assert_valid(done)
    (entry,) = found["maintenance"]
    assert entry["name"] == "reindex"
    assert entry["space_estimate_bytes"] > 100_000
    assert entry["estimate_s"] > 0
    assert entry["space_peak_bytes"] is None and entry["seconds"] is None
    bundle = Bundle.open(Path(found["bundle"]))
    kinds = {phase.kind for phase in bundle.run.phases}
    assert kinds == {"machine", "provision", "maintenance"}
    (phase,) = [phase for phase in bundle.run.phases if phase.kind == "maintenance"]
    assert isinstance(phase.detail, MaintenanceDetail)
    assert phase.detail.estimate_only is True and phase.detail.start_ns is None
    assert bundle.table("queries").num_rows == bundle.table("during").num_rows == 0
    assert "estimated" in (bundle.path / "sheet.html").read_text()


def test_the_task_itself_has_its_estimate_and_its_time(loaded: Path) -> None:
    done = dyno(
        "run", *TARGET, loaded, "--during", "quick-check", "--duration", "200ms", "--no-warming",
        "--json",
    )  # fmt: skip
    (entry,) = json.loads(done.stdout)["maintenance"]
    assert entry["rounds"] >= 1
    assert entry["round_s"] == pytest.approx(entry["seconds"] / entry["rounds"])
    assert entry["estimate_s"] > 0
    assert entry["log_bytes"] is None  # SQLite's log has no position


def test_without_data_there_is_nothing_to_estimate(out: Path) -> None:
    done = dyno("run", *TARGET, out, "--during", "reindex", "--estimate-only")
    assert done.returncode == 2, done.stderr
    assert "holds no tpch data" in done.stderr

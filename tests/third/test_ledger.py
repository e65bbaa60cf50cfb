"""A third workload, in a folder that ``DYNO_WORKLOADS`` names: nothing else of Dyno knows it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.bundle.reader import Bundle, list_bundles
from tests.conftest import missing
from tests.process import COMMAND, assert_valid, no_server_left

HERE = Path(__file__).parent
OPERATIONS = {"deposit": 0.5, "withdrawal": 0.3, "balance": 0.2}
NOTICE = "Made for tests; comparable with nothing."
STUDY = """
pairs = 2
headline = ["tps", "deposits_per_min", "deposit_p95_ms"]
criteria = ["p95_ms.withdrawal < 60000"]
replace = 1

[base]
workload = "ledger"
target = "null:?mean_us=500"

[base.run]
users = 2
warmup = "100ms"
duration = "300ms"
no_criteria = true

[[variants]]
name = "slow"
target = "null:?mean_us=5000"
"""


def dyno(*args: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs Dyno as its users do: forks of this process have looked for workloads already."""
    return subprocess.run(
        [*COMMAND, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "DYNO_WORKLOADS": str(HERE)},
    )


def newest(out: Path) -> Bundle:
    return list_bundles(out)[0]


def level_of(found: dict[str, Any]) -> dict[str, Any]:
    """The one level of a run's document; aliases are those of the first workloads alone."""
    assert set(found["workloads"]) == {"ledger"}
    assert found["tpcc"] is found["tpch"] is None
    (level,) = found["workloads"]["ledger"]["levels"]
    return level


@pytest.mark.long
@pytest.mark.parametrize("target", ["sqlite", "postgresql", "mysql"])
def test_it_is_loaded_driven_checked_and_reported(target: str, tmp_path: Path) -> None:
    if lacks := targets.lacks(target):
        missing(lacks)
    where = ("--target", f"embedded:{target}", "--json", "--out", tmp_path)
    loaded = assert_valid(dyno("load", "ledger", *where, "--scale", "2"))
    assert loaded["workloads"]["ledger"]["consistency"] is True
    assert "condition 1" in {check.name for check in newest(tmp_path).checks()}

    found = assert_valid(dyno("run", "ledger", *where, "--users", "4", "--warmup", "200ms",
                              "--duration", "2s"))  # fmt: skip
    level = level_of(found)
    assert level["errors"] == 0
    assert level["deposits_per_min"] > 0
    assert level["p95_ms"] == level["operations"]["deposit"]["response_ms"]["p95"]
    counts = {name: each["count"] for name, each in level["operations"].items()}
    whole = sum(counts.values())
    for name, share in OPERATIONS.items():
        # Six standard deviations, however many there are.
        slack = 6 * (share * (1 - share) / whole) ** 0.5
        assert abs(counts[name] / whole - share) < slack + 1 / whole, counts
    assert found["workloads"]["ledger"]["consistency"] is True
    assert found["workloads"]["ledger"]["scale"] == 2
    bundle = newest(tmp_path)
    assert bundle.run.notices == (NOTICE,)
    report = Path(found["sheet"]).read_text(encoding="utf-8")
    for words in ("Deposits/min", "Deposit p95", "2 offices", NOTICE):
        assert words in report

    assert_valid(dyno("check", "ledger", *where))
    again = dyno("report", found["bundle"], "--json")
    assert level_of(json.loads(again.stdout)) == level
    no_server_left(tmp_path)


@pytest.mark.long
def test_a_bundle_of_a_workload_that_is_not_here_is_still_read(tmp_path: Path) -> None:
    found = json.loads(
        dyno("run", "ledger", "--target", "null:?mean_us=500", "--users", "2", "--warmup", "100ms",
             "--duration", "300ms", "--json", "--out", tmp_path).stdout
    )  # fmt: skip
    assert level_of(found)["deposits_per_min"] > 0
    read = subprocess.run([*COMMAND, "report", found["bundle"], "--json"],
                          capture_output=True, text=True, timeout=300, check=False)  # fmt: skip
    assert read.returncode in {0, 1}, read.stderr
    assert json.loads(read.stdout)["workloads"] == {}


@pytest.mark.long
def test_a_study_asks_about_it(tmp_path: Path) -> None:
    study = tmp_path / "mine.toml"
    study.write_text(STUDY)
    done = dyno("study", study, "--json", "--out", tmp_path / "out")
    assert done.returncode in {0, 1}, done.stderr
    text = json.dumps(json.loads(done.stdout))
    assert "deposits_per_min" in text
    assert "deposit_p95_ms" in text
    page = (tmp_path / "out" / "studies" / "mine" / "study.html").read_text(encoding="utf-8")
    assert NOTICE in page


@pytest.mark.parametrize(("option", "value"), [("--mode", "procedure"), ("--home", "fixed")])
def test_what_it_cannot_do_is_refused(option: str, value: str, tmp_path: Path) -> None:
    done = dyno("run", "ledger", "--target", "null:", option, value, "--out", tmp_path)
    assert done.returncode == 2
    assert f"ledger does not support {option} {value}" in done.stderr


def test_a_wrong_name_is_met_by_its_own(tmp_path: Path) -> None:
    done = dyno("run", "leger", "--target", "null:", "--out", tmp_path)
    assert done.returncode == 2
    assert "ledger" in done.stderr

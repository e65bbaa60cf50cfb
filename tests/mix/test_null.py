"""Mixed load as a user runs it, on the target that stores nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from tests.process import dyno, spoilt

SHORT = ("--duration", "400ms", "--warmup", "100ms")
ONE = ("--target", "null:?mean_us=500")
TWO = (*ONE, "--target", "null:?mean_us=2000")
_WRONG = {"incomplete", "inconsistent", "wrong-answers"}


def run(out: Path, *args: str) -> tuple[dict[str, Any], Bundle]:
    done = dyno("run", *args, *SHORT, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)
    assert not spoilt(found) & _WRONG, done.stderr  # a busy machine spoils such short windows
    return found, Bundle.open(Path(found["bundle"]))


def test_two_workloads_at_once(out: Path) -> None:
    users = ("--users", "tpcc=3", "--users", "brokerage=2")
    found, bundle = run(out, "tpcc+brokerage", *ONE, *users)
    levels = {name: found["workloads"][name]["levels"] for name in ("tpcc", "brokerage")}
    assert [level["level"] for level in levels["tpcc"]] == ["users-3-tpcc"]
    assert [level["level"] for level in levels["brokerage"]] == ["users-2-brokerage"]
    assert levels["tpcc"][0]["new_orders_per_min"] > 0
    assert "new_orders_per_min" not in levels["brokerage"][0]
    (window,) = found["mix"]["windows"]
    assert [one["member"] for one in window["members"]] == ["tpcc", "brokerage"]
    assert all(one["tps"] > 0 and one["error"] is None for one in window["members"])
    assert (window["alone"], found["mix"]["totals"], found["mix"]["slowdown"]) == (None, [], [])
    phases = [phase for phase in bundle.run.phases if phase.kind == "oltp"]
    assert max(phase.start_ns for phase in phases) < min(phase.end_ns or 0 for phase in phases)
    assert bundle.run.workloads == ("tpcc", "brokerage")


def test_two_targets_are_told_apart_and_summed(out: Path) -> None:
    found, bundle = run(out, "tpcc", *TWO, "--users", "2")
    assert list(bundle.run.targets) == ["null", "null@2"]
    levels = {one["level"]: one["tps"] for one in found["tpcc"]["levels"]}
    assert set(levels) == {"users-2-null", "users-2-null@2"}
    (total,) = found["mix"]["totals"]
    assert total["targets"] == 2
    assert total["tps"] == pytest.approx(sum(levels.values()), rel=0.2)
    names = {phase.name for phase in bundle.run.phases}
    assert {"provision-null", "provision-null@2"} <= names


def test_each_against_itself_alone(out: Path) -> None:
    found, bundle = run(out, "tpcc+brokerage", *ONE, "--alone")
    order = [one["window"] for one in found["mix"]["windows"]]
    assert order == [
        *("tpcc-alone", "brokerage-alone", "together"),
        *("together-2", "brokerage-alone-2", "tpcc-alone-2"),
        *("tpcc-alone-3", "brokerage-alone-3", "together-3"),
    ]
    slower = {one["member"]: one for one in found["mix"]["slowdown"]}
    assert set(slower) == {"tpcc", "brokerage"}
    assert [one["pairs"] for one in slower.values()] == [3, 3]
    assert len(bundle.levels()) == 12
    assert {"users-1-tpcc-alone", "users-1-tpcc-alone-window-2"} <= set(bundle.levels())
    # No window finds the pages of an earlier one in the cache.
    details = [phase.detail for phase in those(bundle.run.phases, OltpDetail)]
    for workload in ("tpcc", "brokerage"):
        seeds = [detail.seed for detail in details if detail.workload == workload]
        assert len(set(seeds)) == len(seeds) == 6


def test_few_pairs_give_no_interval(out: Path) -> None:
    found, bundle = run(out, "tpcc+brokerage", *ONE, "--alone", "--repeat", "1")
    assert [one["throughput_percent_interval"] for one in found["mix"]["slowdown"]] == [None, None]
    notes = [one for one in bundle.findings() if one.code == "mixed-load" and one.level == "note"]
    assert any("slowdown.tpcc.pairs" in one.evidence for one in notes)


def test_criteria_judge_the_workload_that_has_the_operation(out: Path) -> None:
    limits = ("--criterion", "new_order p95 < 10s", "--no-criteria")
    _, bundle = run(out, "tpcc+brokerage", *ONE, *limits)
    judged = [one.result.level for one in bundle.findings() if one.result is not None]
    assert judged == ["users-1-tpcc"]


def test_dry_run_lists_members_and_windows(out: Path) -> None:
    done = dyno("run", "tpcc+brokerage", *ONE, *SHORT, "--alone", "--dry-run", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "9 windows (0.1 s of warm-up, 0.4 s measured" in done.stdout
    assert "tpcc alone, round 3" in done.stdout
    assert not out.exists() or not list(out.iterdir())


@pytest.mark.parametrize(
    "args",
    [
        ("tpcc+brokerage", *ONE, "--find-max"),
        ("tpcc+brokerage", *ONE, "--users", "tpch=2"),
        ("tpcc", *ONE, "--alone"),
        ("tpcc", *ONE, *ONE),
        ("tpcc", *TWO, "--find-max"),
        ("tpcc", *TWO, "--scale", "1", "--scale", "2"),
        ("tpcc+tpch", *ONE),
    ],
    ids=" ".join,
)
def test_wrong_use_starts_nothing(out: Path, args: tuple[str, ...]) -> None:
    done = dyno("run", *args, "--out", out)
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    assert not out.exists() or not list(out.iterdir())

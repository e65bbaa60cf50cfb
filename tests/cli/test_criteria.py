"""``--criterion``, ``--find-max`` and ``--until-steady``, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno import workloads
from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from dyno.host.storage import storage_facts
from dyno.plans.fields import made
from dyno.plans.limits import Criteria
from dyno.plans.searching import Searching
from dyno.runner.findmax import search_of
from tests.process import document, dyno, spoilt

NULL = ("run", "tpcc", "--target", "null:?mean_us=2000&servers=4")
SHORT = ("--warmup", "200ms", "--duration", "1s")


def codes(made: dict[str, Any]) -> set[str]:
    return {reason["code"] for reason in made["reasons"]}


def test_a_broken_criterion_is_shown_everywhere_and_exits_1(out: Path) -> None:
    done = dyno(
        *NULL, *SHORT, "--users", "2", "--criterion", "new_order p95 < 1ms", "--json", "--out", out
    )
    assert done.returncode == 1, done.stderr
    made = document(done)
    assert not spoilt(made)  # the run stays valid
    results = {item["criterion"]: item for item in made["criteria"]}
    assert results["new_order p95 < 1 ms"]["passed"] is False
    assert results["new_order p95 < 1 ms"]["worst_t_ns"] > 0
    assert results["response p95 < 2 s"]["passed"] is True
    assert results["cpu mean < 80 %"]["passed"] is None
    assert "inside Dyno" in results["log_write mean < 5 ms"]["reason"]
    assert "1 FAILED (new_order p95 < 1 ms)" in done.stderr
    assert "Criteria failed: new_order p95 &lt; 1 ms" in Path(made["sheet"]).read_text()
    again = dyno("report", "last", "--json", "--out", out)
    assert again.returncode == 1
    assert document(again)["criteria"] == made["criteria"]


@pytest.mark.parametrize(
    ("texts", "none", "expected"),
    [
        ((), True, []),
        (("errors = 0",), True, ["errors total = 0"]),
        (("cpu < 95 %", "new_order<1s"), False, [
            "cpu mean < 95 %", "new_order p95 < 1 s", "data_read mean < 20 ms",
            "data_write mean < 20 ms", "log_write mean < 5 ms", "response p95 < 2 s",
            "retransmits mean < 0.5 %",
        ]),
    ],
)  # fmt: skip
def test_the_usual_limits_give_way(texts: tuple[str, ...], none: bool, expected: list[str]) -> None:
    found = Criteria(criterion=texts, no_criteria=none).criteria(workloads.get("tpcc"))
    assert sorted(map(str, found)) == sorted(expected)


@pytest.mark.long
def test_the_planted_maximum_is_found(out: Path) -> None:
    """Two servers of 40 ms: n users wait n·20 ms each, so 4 stay below 98 ms, and 5 cannot."""
    done = dyno(
        *("run", "tpcc", "--target", "null:?mean_us=40000&servers=2", "--find-max"),
        *("--slo", "new_order p95 < 98ms", "--slo", "errors = 0", "--max-users", "64"),
        *("--warmup", "300ms", "--duration", "1200ms", "--json", "--out", out),
    )
    made = document(done)
    assert "users with new_order p95 < 98 ms and errors total = 0" in done.stderr
    found = made["capacity"]
    assert (found["best"] or 0) <= 4, found
    # Below four, or measured twice, only if the machine itself took 18 ms of a transaction: a
    # window at or below four that failed decides.
    kept = [window["passed"] for window in found["windows"] if window["load"] <= 4]
    if all(kept):
        assert (found["best"], found["failing"]) == (4, 5)
        assert (found["confirmed"], found["stopped"]) == (True, "resolution")
        assert found["tps"]["mean"] == pytest.approx(50, rel=0.1)
    bundle = Bundle.open(Path(made["bundle"]))
    assert len(bundle.levels()) == len(found["windows"]) >= 4
    assert {item["level"] for item in made["criteria"]} == {
        window["level"] for window in found["windows"] if window["load"] == 4
    }
    assert spoilt(made) <= {"unsteady", "unconfirmed-maximum", "client-bound"}
    kept = [item["passed"] for item in made["criteria"]]
    assert done.returncode == (0 if made["valid"] and all(kept) else 1)
    remade = document(dyno("report", "last", "--json", "--out", out))
    assert remade["capacity"] == found


@pytest.mark.long
def test_a_rate_is_searched_up_to_the_most_allowed(out: Path) -> None:
    done = dyno(
        *("run", "tpcc", "--target", "null:?mean_us=500", "--find-max", "rate"),
        *("--slo", "response p95 < 2s", "--max-rate", "100", "--users", "16"),
        *("--warmup", "100ms", "--duration", "1s", "--json", "--out", out),
    )
    found = document(done)["capacity"]
    stopped = [window for window in found["windows"] if not window["passed"]]
    # Of 100 due in a second a machine that stands still for 30 ms at its end does not carry 98:
    # the window says so then, and what was found lies below it.
    assert all("of the rate sustained" in window["words"] for window in stopped), found
    if stopped:
        assert found["failing"] == min(window["load"] for window in stopped)
        return
    assert [window["load"] for window in found["windows"]] == [10, 40, 100, 100]
    assert (found["best"], found["failing"], found["stopped"]) == (100, None, "most")
    assert found["confirmed"] is True


def test_nothing_is_found_where_one_user_is_too_many(out: Path) -> None:
    done = dyno(
        *("run", "tpcc", "--target", "null:?mean_us=3000", "--find-max"),
        *("--slo", "new_order p95 < 1ms", "--warmup", "100ms", "--duration", "500ms"),
        *("--json", "--out", out),
    )
    assert done.returncode == 1
    made = document(done)
    assert made["capacity"]["best"] is None
    assert made["capacity"]["stopped"] == "least"
    assert [item["passed"] for item in made["criteria"]] == [False]
    assert "No tried load passes." in done.stderr


def test_dry_run_of_a_search_prints_its_plan(out: Path) -> None:
    done = dyno(
        *("run", "tpcc", "--target", "null:", "--find-max", "--slo", "errors=0", "--dry-run"),
        *("--max-users", "256", "--out", out),
    )
    assert done.returncode == 0, done.stderr
    assert "grow from 1 user by 2 until a limit fails, at most 256 users" in done.stdout
    assert "at most 14 windows of 15.0 s after 5.0 s warm-up: 4 min 54 s" in done.stdout
    assert list(out.iterdir()) == []


def test_a_level_goes_on_until_it_is_steady(out: Path) -> None:
    done = dyno(
        *NULL, "--users", "2", "--warmup", "100ms", "--duration", "600ms",
        "--until-steady", "8s", "--json", "--out", out,
    )  # fmt: skip
    made = document(done)
    (phase,) = [one for one in Bundle.open(Path(made["bundle"])).run.phases if one.kind == "oltp"]
    extension = phase.detail.until_steady
    assert extension.limit_s == 8
    assert extension.settled or "unsteady" in codes(made)
    assert 0.6 <= phase.detail.duration_s <= 8
    assert phase.detail.outcome.seconds <= 8


GIVEN = {"users": (), "databases": 1, "warmup_s": 5.0, "duration_s": 15.0}


@pytest.mark.parametrize(
    ("by", "changed", "given", "words"),
    [
        (None, {"slo": ("errors = 0",)}, {}, "--slo requires --find-max"),
        (None, {"max_users": 5}, {}, "--max-users requires --find-max"),
        ("users", {}, {"users": (1, 2)}, "takes one value of --users"),
        ("users", {"slo": ("error = 0",)}, {}, "Did you mean 'errors'?"),
        ("users", {"max_rate": 5.0}, {}, "--find-max rate"),
        ("rate", {"max_users": 5}, {}, "--find-max users"),
        (
            "users",
            {"max_users": 8},
            {"users": (9,)},
            "starts at --users 9, above --max-users 8",
        ),
        ("users", {"time_limit": "10s"}, {}, "allow two windows: 42.0 s"),
        ("users", {"time_limit": "soon"}, {}, "'soon' is not a valid time"),
    ],
)
def test_a_search_that_makes_no_sense(
    by: str | None, changed: dict[str, Any], given: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as error:
        asked = made(Searching, {"find_max": by, **changed})
        search_of(asked, workloads.get("tpcc"), {**GIVEN, **given})
    assert words in str(error.value)


def test_the_usual_time_of_a_search_is_enough_for_its_windows() -> None:
    def limit_s(warmup_s: float, **asked: Any) -> float:
        plan = made(Searching, {"find_max": "users", **asked})
        found = search_of(plan, workloads.get("tpcc"), {**GIVEN, "warmup_s": warmup_s})
        assert found is not None
        assert asked or found.time_limit_s >= found.windows * found.step_s
        return found.time_limit_s

    assert limit_s(5.0) == 1800.0
    assert limit_s(600.0) > 1800.0
    assert limit_s(600.0, time_limit="30m") == 1800.0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("tpcc", "--dry-run"), "--dry-run requires --find-max"),
        (("tpcc", "--criterion", "new_ordr < 1s"), "Did you mean 'new_order'?"),
        (("tpcc", "--find-max", "--criterion", "errors = 0"), "search are --slo"),
        (("tpcc", "--until-steady", "5s"), "not be shorter than --duration"),
        (
            ("tpcc", "--find-max", "--until-steady", "5m"),
            "--until-steady and --find-max cannot be combined",
        ),
        (("tpch", "--criterion", "errors = 0"), "applies to transactions"),
        (("tpch", "--find-max"), "needs a transaction workload"),
        (("tpch", "--until-steady", "5m"), "--until-steady applies to transactions"),
    ],
)
def test_wrong_use(out: Path, args: tuple[str, ...], words: str) -> None:
    target = {"tpcc": "null:", "tpch": "embedded:duckdb"}[args[0]]
    done = dyno("run", *args, "--target", target, "--out", out)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_a_real_server(out: Path) -> None:
    target = ("tpcc", "--target", "embedded:postgresql")
    loaded = dyno("load", *target, "--scale", "1", "--quiet", "--out", out)
    assert loaded.returncode in {0, 1}, loaded.stderr
    # Its log shares the device of its data: that limit cannot be judged, and stops no search.
    shared = ["--slo", "log_write < 5 ms"] if storage_facts(out)["subject"] else []
    done = dyno(
        "run", *target, "--find-max", "--slo", "new_order p95 < 30s", "--slo", "errors < 1 %",
        *shared, "--max-users", "2", "--warmup", "500ms", "--duration", "1s", "--json",
        "--out", out,
    )  # fmt: skip
    made = document(done)
    found = made["capacity"]
    assert made["tpcc"]["consistency"] is True
    assert spoilt(made) <= {"unsteady", "client-bound", "unconfirmed-maximum"}
    assert all(window["passed"] for window in found["windows"])
    # On a machine with much other work a window may not be steady, and is measured again.
    if all(window["steady"] for window in found["windows"]):
        assert (found["best"], found["stopped"]) == (2, "most"), done.stderr
        assert [window["load"] for window in found["windows"]] == [1, 2, 2]
    assert found["confirmed"] is (found["best"] is not None)

    run = dyno("run", *target, "--users", "2", "--warmup", "500ms", "--duration", "4s", "--json",
               "--out", out)  # fmt: skip
    results = {item["criterion"]: item for item in document(run)["criteria"]}
    assert len(results) == 6
    assert results["response p95 < 2 s"]["passed"] is not None
    assert results["cpu mean < 80 %"]["passed"] is not None
    head = json.loads((Path(document(run)["bundle"]) / "run.json").read_text())
    devices = head["targets"]["postgresql"]["devices"]
    log = results["log_write mean < 5 ms"]
    if devices:  # a file system on a block device that the kernel names
        assert set(devices) == {"data", "log", "temp"}
        assert (log["passed"], log["reason"]) == (None, f"log and data share {devices['log'][0]}")
        assert results["data_write mean < 20 ms"]["passed"] is not None
    else:
        assert "not known" in log["reason"]

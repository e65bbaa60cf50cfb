"""Metrics of storage profiles against rows whose answers are worked out by hand, or by SciPy."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from dyno.analyse import estimate
from dyno.bundle.histograms import Latencies
from dyno.bundle.model import Estimate
from dyno.profiles.volume_sets import loads
from tests.storage_rows import Row, bundle, rising, step

CURVE = "random_read_8k"


def found(
    out: Path, rows: Sequence[Row], parts: Sequence[Row] = (), **more: Any
) -> dict[str, Estimate]:
    estimates = estimate(bundle(out, rows, parts, **more).write())
    named = {one.name: one for one in estimates if one.name.startswith("io.")}
    assert len(named) == sum(one.name.startswith("io.") for one in estimates)
    assert all(math.isfinite(one.value) and one.source for one in named.values())
    return named


def test_windows_of_a_load_are_put_together_with_a_t_interval(tmp_path: Path) -> None:
    rates = [1000.0, 1040.0, 980.0, 1010.0]
    rows = [step(rate, repeat=1 + at, median=0.5 + at) for at, rate in enumerate(rates)]
    estimates = found(tmp_path, rows)
    iops = estimates[f"io.{CURVE}.qd8.iops"]
    mean = statistics.mean(rates)
    low, high = stats.t.interval(0.95, len(rates) - 1, mean, stats.sem(rates))
    assert (iops.value, iops.low, iops.high) == pytest.approx((mean, low, high))
    mbps = estimates[f"io.{CURVE}.qd8.mbps"]
    assert mbps.low == pytest.approx(low * 8192 / 1e6)
    assert estimates[f"io.{CURVE}.qd8.windows"].value == 4
    variation = estimates[f"io.{CURVE}.qd8.cov_percent"].value
    assert variation == pytest.approx(100 * stats.variation(rates, ddof=1))
    merged = Latencies()
    for row in rows:
        merged.add(row["read_latency"])
    assert estimates[f"io.{CURVE}.qd8.read_p95_ms"].value == merged.quantile_ms(0.95)
    assert estimates[f"io.{CURVE}.qd8.read_p999_ms"].value == merged.quantile_ms(0.999)
    assert estimates[f"io.{CURVE}.qd8.read_mean_ms"].value == pytest.approx(merged.mean_ms)
    best = estimates[f"io.{CURVE}.best_iops"]
    assert (best.value, best.low, best.high) == (iops.value, iops.low, iops.high)


def test_windows_of_different_length_count_by_their_time(tmp_path: Path) -> None:
    rows = [step(1000.0, seconds=1.0), step(1300.0, seconds=3.0, repeat=2)]
    assert found(tmp_path, rows)[f"io.{CURVE}.qd8.iops"].value == pytest.approx(1225.0)


def test_reads_and_writes_of_a_mix_are_separate(tmp_path: Path) -> None:
    rows = [step(1000.0, reads=70, seconds=1.0), step(1300.0, reads=70, seconds=3.0, repeat=2)]
    estimates = found(tmp_path, [*rows, step(900.0, curve="alone")])
    start = f"io.{CURVE}.qd8"
    assert estimates[f"{start}.read_iops"].value == pytest.approx(0.7 * 1225)
    assert estimates[f"{start}.write_iops"].value == pytest.approx(0.3 * 1225)
    assert estimates[f"{start}.write_mbps"].value == pytest.approx(0.3 * 1225 * 8192 / 1e6)
    assert "io.alone.qd8.read_iops" not in estimates


def test_each_load_has_the_processors_of_its_own_windows(tmp_path: Path) -> None:
    rows = [step(1000.0, depth=depth, level=at) for at, depth in enumerate((8, 16, 8))]
    builder = bundle(tmp_path, rows)
    busy = [one for one in builder.tables["samples"] if one["metric"] == "busy"]
    for sample in busy:
        # A reading covers the second before it: these belong to the second window.
        sample["value"] = 80.0 if 2 < (sample["t_ns"] - busy[0]["t_ns"]) / 1e9 + 1 <= 4 else 10.0
    estimates = {one.name: one for one in estimate(builder.write())}
    assert estimates[f"io.{CURVE}.qd8.cpu_percent"].value == pytest.approx(10)
    assert estimates[f"io.{CURVE}.qd16.cpu_percent"].value == pytest.approx(80)


@pytest.mark.parametrize(("rounds", "percent"), [(2, 80.0), (4, 45.0)])
def test_the_processors_of_a_settling_load_are_of_the_windows_that_agree(
    tmp_path: Path, rounds: int, percent: float
) -> None:
    builder = bundle(tmp_path, [step(1000.0, level=at, purpose="settle") for at in range(4)])
    builder.plan["curves"] = [{"name": CURVE, "settle": {"rounds": rounds}}]
    busy = [one for one in builder.tables["samples"] if one["metric"] == "busy"]
    for sample in busy:
        # A reading covers the second before it: these belong to the last two windows.
        sample["value"] = 80.0 if (sample["t_ns"] - busy[0]["t_ns"]) / 1e9 + 1 > 4 else 10.0
    estimates = {one.name: one for one in estimate(builder.write())}
    assert estimates[f"io.{CURVE}.qd8.windows"].value == rounds
    assert estimates[f"io.{CURVE}.qd8.cpu_percent"].value == pytest.approx(percent)


def test_a_single_window_has_no_interval(tmp_path: Path) -> None:
    estimates = found(tmp_path, [step(1000.0)])
    assert estimates[f"io.{CURVE}.qd8.iops"].low is None
    assert f"io.{CURVE}.qd8.windows" not in estimates


@pytest.mark.parametrize(
    ("last", "best"),
    [
        ({}, 16),
        ({"inside": False}, 16),
        ({"inside": False, "median": 200.0}, 8),
        ({"errors": 1}, 8),
        ({"inside": False, "purpose": "grow"}, 16),
        ({"inside": False, "purpose": "grow", "median": 200.0}, 8),
    ],
    ids=[
        "kept",
        "a pause",
        "a long pause",
        "failed",
        "a pause while growing",
        "a pause too long",
    ],
)
def test_a_search_is_believed_where_every_window_confirms_it(
    tmp_path: Path, last: dict[str, Any], best: int
) -> None:
    """Depth 32 gave the most, once; 16 was confirmed unless a window says otherwise; then 8."""
    asked = [(8, "grow", {}), (32, "grow", {}), (16, "narrow", {}), (16, "confirm", {}),
             (16, "confirm", {}), (16, "confirm", last), (8, "confirm", {})]  # fmt: skip
    rates = {8: 5000.0, 16: 8000.0, 32: 9000.0}
    rows = [
        step(rates[depth], **({"depth": depth, "purpose": purpose, "level": level} | more))
        for level, (depth, purpose, more) in enumerate(asked)
    ]
    estimates = found(tmp_path, rows)
    assert estimates[f"io.{CURVE}.best_depth"].value == best
    assert estimates[f"io.{CURVE}.best_iops"].value == rates[best]
    assert estimates[f"io.{CURVE}.best_confirmed"].value >= 1


def test_two_windows_outside_are_due_to_the_load(tmp_path: Path) -> None:
    asked = [(8, "grow", {}), (8, "confirm", {}), (16, "narrow", {}), (16, "confirm", {}),
             (16, "confirm", {"inside": False}), (16, "confirm", {"inside": False})]  # fmt: skip
    rows = [
        step(500.0 * depth, **({"depth": depth, "purpose": purpose, "level": level} | more))
        for level, (depth, purpose, more) in enumerate(asked)
    ]
    assert found(tmp_path, rows)[f"io.{CURVE}.best_depth"].value == 8


def test_what_a_search_could_not_confirm_says_so(tmp_path: Path) -> None:
    rows = [step(500.0 * depth, depth=depth, purpose="grow", level=depth) for depth in (1, 2, 4)]
    estimates = found(tmp_path, rows)
    assert estimates[f"io.{CURVE}.best_depth"].value == 4
    assert estimates[f"io.{CURVE}.best_confirmed"].value == 0


@pytest.mark.parametrize(("of", "depth"), [("mean", 8), ("p95", 4), ("p99", 1)])
def test_the_ceiling_is_for_what_the_plan_says(tmp_path: Path, of: str, depth: int) -> None:
    """Rows without a judgement of their own: of a log-normal the mean is 6 % above the median."""
    medians = {1: 7.0, 4: 10.0, 8: 17.0, 16: 30.0}
    rows = [
        step(100.0 * at, depth=at, level=at, median=median) | {"inside_ceiling": None}
        for at, median in medians.items()
    ]
    estimates = found(tmp_path, rows, ceiling_of=of, ceiling_ms=20.0 if of != "p99" else 18.0)
    assert estimates[f"io.{CURVE}.best_depth"].value == depth
    p95 = estimates[f"io.{CURVE}.qd{depth}.read_p95_ms"].value
    assert estimates[f"io.{CURVE}.best_p95_ms"].value == p95
    own = estimates[f"io.{CURVE}.best_{of}_ms"].value
    assert own == estimates[f"io.{CURVE}.qd{depth}.read_{of}_ms"].value


def test_an_open_loop_has_its_rate_and_both_latencies(tmp_path: Path) -> None:
    rows = [
        step(1000.0, rate=1000.0, depth=64),
        step(4800.0, rate=5000.0, depth=64, level=1, response=60.0, unissued=400, inside=False),
    ]
    estimates = found(tmp_path, rows)
    slow = f"io.{CURVE}.rate5000"
    assert estimates[f"{slow}.offered_iops"].value == 5000
    assert estimates[f"{slow}.iops"].value == pytest.approx(4800)
    assert estimates[f"{slow}.unissued"].value == 400
    assert estimates[f"{slow}.late_percent"].value == pytest.approx(2.0)
    service, response = (estimates[f"{slow}.read_{kind}p95_ms"].value for kind in ("", "response_"))
    assert response == pytest.approx(60 * service, rel=0.01)
    assert estimates[f"io.{CURVE}.best_rate"].value == 1000
    assert "response time" in estimates[f"io.{CURVE}.best_p95_ms"].source
    assert not [name for name in estimates if ".qd" in name]


def test_loads_are_named_by_their_differences() -> None:
    named = {
        (8, None): "qd8",
        (16, None): "qd16",
    }
    assert {key: load.name for key, load in loads(named).items()} == named
    # A log at a steady rate beside jobs whose depth rises.
    steady = {key: load.name for key, load in loads([(9, 100.0), (17, 100.0)]).items()}
    assert steady == {(9, 100.0): "qd9", (17, 100.0): "qd17"}
    rates = {key: load.name for key, load in loads([(64, 0.5), (64, 1e6), (32, 1e6)]).items()}
    assert rates == {
        (64, 0.5): "rate0.5",
        (32, 1e6): "rate1000000_qd32",
        (64, 1e6): "rate1000000_qd64",
    }


SHARES = {"a": 0.6, "b": 0.4}
JOBS = {"data": 4500.0, "log": 500.0}


def split(slow: float, *, inside: bool) -> tuple[Row, list[Row]]:
    """A step of two jobs on two volumes, and its parts in the engine's order.

    The log on b has a latency of its own, ``slow``.
    """
    both = "a+b"
    lanes = [
        step(
            rate * share,
            arm=both,
            volume=volume,
            job=job,
            median=slow if (volume, job) == ("b", "log") else 0.5,
            syncs=rate * share if job == "log" else 0.0,
        )
        for volume, share in SHARES.items()
        for job, rate in JOBS.items()
    ]
    volumes = [step(5000.0 * share, arm=both, volume=name) for name, share in SHARES.items()]
    jobs = [step(rate, arm=both, job=job, syncs=JOBS["log"]) for job, rate in JOBS.items()]
    whole = step(5000.0, arm=both, depth=16, inside=inside, syncs=JOBS["log"])
    return whole, [*volumes, *jobs, *lanes]


def test_parts_by_volume_and_by_job(tmp_path: Path) -> None:
    whole, parts = split(0.5, inside=True)
    estimates = found(tmp_path, [whole], parts, how="together", members={"a+b": ["a", "b"]})
    name = f"io.{CURVE}.qd16"
    assert estimates[f"{name}.at.a.iops"].value == pytest.approx(3000)
    assert estimates[f"{name}.at.b.mbps"].value == pytest.approx(2000 * 8192 / 1e6)
    assert estimates[f"{name}.job.data.iops"].value == pytest.approx(4500)
    assert estimates[f"{name}.job.log.syncs_per_s"].value == pytest.approx(500)
    assert f"{name}.job.log.sync_p95_ms" in estimates
    assert estimates[f"{name}.at.a.errors"].value == 0


def test_one_slow_volume_is_not_hidden_by_the_others(tmp_path: Path) -> None:
    """The log on b is a twenty-fifth of all I/Os: the p95 of all together stays low."""
    whole, parts = split(40.0, inside=False)
    estimates = found(tmp_path, [whole], parts, how="together", members={"a+b": ["a", "b"]})
    name = f"io.{CURVE}.qd16"
    assert estimates[f"{name}.read_p95_ms"].value < 20 < estimates[f"{name}.slowest_p95_ms"].value
    assert f"io.{CURVE}.best_iops" not in estimates


def test_the_parts_of_a_lone_volume_count_once(tmp_path: Path) -> None:
    """The volume is called as its arm, so that its jobs are there twice."""
    rows = [step(3000.0, repeat=repeat, depth=9) for repeat in (1, 2)]
    parts = [
        part
        for repeat in (1, 2)
        for part in [
            step(3000.0, repeat=repeat),
            *(
                step(rate, job=job, repeat=repeat)
                for _ in ("on all its volumes", "on each")
                for job, rate in (("data", 2000.0), ("temp", 1000.0))
            ),
        ]
    ]
    estimates = found(tmp_path, rows, parts)
    assert estimates[f"io.{CURVE}.qd9.job.data.iops"].value == pytest.approx(2000)
    assert not [name for name in estimates if ".at." in name]


def test_fill_levels_have_names_and_changes(tmp_path: Path) -> None:
    rows = [
        step(rate * (1 + 0.01 * repeat), stage=stage, repeat=repeat)
        for repeat in (1, 2, 3)
        for stage, rate in enumerate((5000.0, 4300.0))
    ]
    estimates = found(tmp_path, rows, stages=["40 %", "62.5 %"])
    assert estimates["io.ceiling_ms"].value == 20
    assert estimates[f"io.fill40.{CURVE}.best_iops"].value == pytest.approx(5100)
    change = estimates[f"io.fill62_5.{CURVE}.best_change_percent"]
    assert change.value == pytest.approx(-14.0)
    assert change.low == pytest.approx(-14.0)  # all times agree


def test_arms_are_compared_within_each_time(tmp_path: Path) -> None:
    """The machine was faster each time, which the quotients of one time do not show."""
    first, ratios = [4000.0, 4400.0, 5000.0], [0.70, 0.72, 0.73]
    rows = [
        step(rate, arm=arm, repeat=at + 1)
        for at, (base, ratio) in enumerate(zip(first, ratios, strict=True))
        for arm, rate in (("fast", base), ("slow", base * ratio))
    ]
    estimates = found(tmp_path, rows, how="compare")
    slow = [base * ratio for base, ratio in zip(first, ratios, strict=True)]
    assert estimates[f"io.fast.{CURVE}.best_iops"].value == pytest.approx(statistics.mean(first))
    ratio = estimates[f"io.compare.slow.{CURVE}.ratio"]
    assert ratio.value == pytest.approx(sum(slow) / sum(first))
    logs = [math.log(each) for each in ratios]
    half = stats.t.ppf(0.975, 2) * stats.sem(logs)
    bounds = (ratio.value * math.exp(-half), ratio.value * math.exp(half))
    assert (ratio.low, ratio.high) == pytest.approx(bounds)
    assert f"io.compare.fast.{CURVE}.ratio" not in estimates


def test_scaling_is_against_the_volumes_alone(tmp_path: Path) -> None:
    rows = [
        step(rate, arm=arm) for arm, rate in (("a", 1000.0), ("a+b", 1800.0), ("a+b+c", 2400.0))
    ]
    members = {arm["arm"]: arm["arm"].split("+") for arm in rows}
    estimates = found(tmp_path, rows, how="scaling", members=members)
    name = f"{CURVE}.efficiency_percent"
    assert estimates[f"io.scaling.a+b.{name}"].value == pytest.approx(90)
    assert estimates[f"io.scaling.a+b+c.{name}"].value == pytest.approx(80)
    assert estimates[f"io.scaling.a+b.{CURVE}.ratio"].value == pytest.approx(1.8)


def test_scaling_knows_the_volumes_that_were_measured_alone(tmp_path: Path) -> None:
    rows = [step(rate, arm=arm) for arm, rate in (("a", 1000.0), ("b", 3000.0), ("a+b", 3600.0))]
    members = {"a": ["a"], "b": ["b"], "a+b": ["a", "b"]}
    estimates = found(tmp_path, rows, how="scaling", members=members)
    efficiency = estimates[f"io.scaling.a+b.{CURVE}.efficiency_percent"]
    assert efficiency.value == pytest.approx(90)
    assert "sum" in efficiency.source


def test_only_the_steady_end_of_a_settling_curve_counts(tmp_path: Path) -> None:
    rates = [9000.0, 7000.0, 5000.0, 4010.0, 4000.0, 3990.0, 4000.0, 4000.0]
    rows = [step(rate, level=level, purpose="settle") for level, rate in enumerate(rates)]
    estimates = found(tmp_path, rows)
    assert estimates[f"io.{CURVE}.qd8.iops"].value == pytest.approx(4000)
    assert estimates[f"io.{CURVE}.qd8.windows"].value == 5
    assert estimates[f"io.{CURVE}.settling_windows"].value == 3


def test_curves_in_rising_order_whatever_order_they_ran_in(tmp_path: Path) -> None:
    rows = list(reversed(rising(40_000)))
    names = [name for name in found(tmp_path, rows) if name.endswith(".iops")]
    assert names == [f"io.{CURVE}.qd{depth}.iops" for depth in (1, 4, 16, 64)]

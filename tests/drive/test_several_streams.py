"""The throughput test in two databases of a real engine at once."""

from __future__ import annotations

import json
import threading

import pytest

from dyno import _core, workloads
from dyno.analyse.streams import streams
from dyno.bundle import metrics
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Loaded, LoadPlan, Target
from dyno.runtime.progress import Silent
from dyno.stages import drive, load, prove
from dyno.stages.drive import ThroughputPlan
from dyno.workloads.tpch.orders import order
from tests.drive.conftest import SCALE

SEED = 42
NAMES = ("tpch", "tpch@2")
WHOLE = Loaded(SCALE, 1, complete=True)


@pytest.fixture
def several(target: Target) -> Target:
    """The engine with a second database, which is loaded once."""
    if target.loaded("tpch@2") is None:
        target.create_tables("tpch@2", replace=False)
        target.load(LoadPlan("tpch@2", SCALE, seed=1, streams=2), _core.Control())
        target.index("tpch@2", threading.Event(), lambda *_: None)
        target.mark("tpch@2", WHOLE)
    return target


def test_each_database_has_its_streams_and_the_sum_is_on_one_clock(
    several: Target, recorder: Recorder
) -> None:
    with (
        drive.restored(recorder, several, "tpch", 1) as first,
        drive.restored(recorder, several, "tpch@2", 1) as second,
    ):
        # Pair 0 is the power test's.
        plan = ThroughputPlan(
            "tpch", SCALE, parameters="seeded", seed=SEED, refresh=True, streams=1,
            first_sets=(first - 1, second - 1),
        )  # fmt: skip
        result = drive.throughput(recorder, several, plan, Silent())
    assert not result.errors
    for name in NAMES:  # the data is as it was
        assert all(one.passed for one in load.check(recorder, several, name, WHOLE, "run"))
    recorder.finish("done")
    bundle = Bundle.open(recorder.path)
    rows = bundle.table("queries").to_pylist()
    own = {n: [row for row in rows if row["database"] == n] for n in (1, 2)}
    assert len(own[1]) == len(own[2]) == 22 + 2
    for number, found in own.items():
        asked = sorted((r for r in found if r["stream"] > 0), key=lambda row: row["position"])
        assert {row["stream"] for row in asked} == {number}
        assert tuple(row["query"] for row in asked) == order(number)
        for row in asked:
            query = next(q for q in workloads.get("tpch").queries if q.name == row["query"])
            drawn = query.draw(SEED + number, SCALE)
            assert json.loads(row["parameters"]) == json.loads(json.dumps(drawn, default=str))
        pairs = [(row["position"], row["query"]) for row in found if row["stream"] == -1]
        assert pairs == [(number, "rf1"), (number, "rf2")]
    begins = [min(row["t_ns"] for row in found) for found in own.values()]
    assert max(begins) < min(max(row["end_ns"] for row in found) for found in own.values())
    names = {check.name: check.passed for check in bundle.checks()}
    for what in ("refresh functions of the streams", "keys of orders", "keys of lineitem"):
        assert names[what] is True
        assert names[f"{what} of database 2"] is True
    estimates = metrics.Estimates(streams(bundle))
    at = metrics.Queries(several.name)
    for number in (1, 2):
        assert estimates.value(at.database(number).done) == 22
        assert estimates.value(at.database(number).failed) == 0
        assert (estimates.value(at.database(number).throughput) or 0) > 0
    total = estimates.value(at.throughput_total_s) or 0
    assert total == pytest.approx((max(r["end_ns"] for r in rows) - min(begins)) / 1e9)
    assert estimates.value(at.throughput) == pytest.approx(2 * 22 * 3600 * SCALE / total)
    assert estimates.value(at.refresh(2).function("rf1"))


def test_the_answers_of_both_databases_agree(several: Target, recorder: Recorder) -> None:
    plan = ThroughputPlan("tpch", SCALE, streams=1, first_sets=(0, 0))
    result = drive.throughput(recorder, several, plan, Silent())
    assert sorted({stream for stream, *_ in result.answers}) == [1, 2]
    made = prove.streams(recorder, "tpch", several.name, result.answers, alike=True)
    agreed = [check for check in made if check.name.startswith("answers-streams-")]
    assert len(agreed) == 22
    assert all(check.passed for check in agreed)

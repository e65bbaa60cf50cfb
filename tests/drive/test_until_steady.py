"""A level that goes on until it is steady: the series as it grows, and the whole of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.analyse import estimate
from dyno.bundle.model import TargetFacts
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Limits, Loaded
from dyno.runtime.progress import Silent
from dyno.stages.drive import OltpPlan, UntilSteadyPlan, drive_until_steady, until_steady
from dyno.stages.drive.oltp import interval_for
from dyno.stages.drive.until_steady import GrowingSeries
from dyno.targets import open_target, parse
from tests.judged import judged

START = 1_795_183_200_000_000_000

WANTED = "was not steady"


def lines(counts: Sequence[int], step_s: float = 1.0) -> list[str]:
    """Two operations an interval; a row of zeros where nothing ended, as the driver writes it."""
    return [
        json.dumps({"t_ns": START + round(place * step_s * 1e9), "phase": phase, "op": op,
                    "done": count, "rolled_back": int(count > 0)}) + "\n"
        for place, count in enumerate(counts)
        for op, phase in (("a", "measure"), ("b", "measure"), ("b", "warmup"))
        if count or op == "a"
    ]  # fmt: skip


@given(
    st.lists(st.integers(0, 50), min_size=2, max_size=30),
    st.integers(1, 400),
    st.sampled_from([1.0, 0.25, 0.167, 0.013]),
)
def test_a_series_is_the_same_however_it_arrives(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], size: int, step_s: float
) -> None:
    spool = tmp_path_factory.mktemp("spool") / "users-1.jsonl"
    series = GrowingSeries(spool, step_s)
    assert not series.read()
    content = "".join(lines(counts, step_s)).encode()
    for at in range(0, len(content), size):
        with spool.open("ab") as file:
            file.write(content[at : at + size])
        series.read()
    expected = [2 * count + 2 if count else 0 for count in counts[:-1]]
    assert series.values() == expected
    assert series.start_ns == START


@pytest.mark.parametrize(("settles", "limit_s"), [(True, 20.0), (False, 0.9)])
def test_a_level_ends_once_it_is_steady_or_at_its_limit(
    tmp_path: Path, settles: bool, limit_s: float
) -> None:
    """The judge has fixed answers, so that noise of the machine does not matter."""
    recorder = Recorder(tmp_path, "run", {}, ("tpcc",))
    target = open_target(parse("null:?mean_us=2000"), tmp_path, Limits(1 << 30, 1))
    recorder.set_target("null", TargetFacts(url="null:", version="null", place="process"))
    plan = OltpPlan("tpcc", Loaded(1, 1, complete=True), 2, 0.1, 0.6, 1)
    asked: list[int] = []

    def judge(values: Sequence[float], least: int) -> int | None:
        asked.append(least)
        return 20 if settles and len(values) >= 20 + least else None

    extension = UntilSteadyPlan(limit_s, judge)
    outcome = drive_until_steady(recorder, target, plan, extension, Silent())
    assert set(asked) == {60}
    (phase,) = recorder.run.phases
    recorder.finish("done")
    recorder.close()
    extension = phase.detail.until_steady
    assert extension.settled is settles
    rows = Bundle.open(recorder.path).table("ops/users-2").to_pylist()
    phases = {row["phase"] for row in rows}
    found = judged(Bundle.open(recorder.path))
    seconds = found.value("oltp.users-2.seconds")
    counted = sum(row["done"] + row["rolled_back"] for row in rows if row["phase"] == "measure")
    assert found.value("oltp.users-2.tps") == pytest.approx(counted / seconds)
    if settles:
        assert outcome["seconds"] < limit_s
        assert extension.left_out_s == pytest.approx(0.2)
        assert phases == {"warmup", "settling", "measure"}
        assert seconds == pytest.approx(outcome["seconds"] - 0.2) == phase.detail.duration_s
        assert seconds >= 0.6
        first = min(row["t_ns"] for row in rows if row["phase"] == "measure")
        last = max(row["t_ns"] for row in rows if row["phase"] == "settling")
        assert first > last
        # Marked, not dropped: all phases together are what the driver counted.
        all_of_it = sum(
            row["done"] + row["rolled_back"] for row in rows if row["phase"] != "warmup"
        )
        assert all_of_it == sum(op["done"] + op["rolled_back"] for op in outcome["ops"].values())
        assert found.value("oltp.users-2.left_out_s") == pytest.approx(0.2)
        assert not any(WANTED in reason.message for reason in found.validity.reasons)
    else:
        assert outcome["seconds"] == pytest.approx(limit_s)
        assert phases == {"warmup", "measure"}
        assert found.codes() >= {"unsteady"}
        assert any(f"{WANTED} after 0.9 s" in one.message for one in found.validity.reasons)
    assert estimate(found.bundle) == found.estimates


def test_the_steady_part_ends_with_the_last_interval_that_all_databases_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(tmp_path, "run", {}, ("tpcc",))
    target = open_target(parse("null:"), tmp_path, Limits(1 << 30, 1))
    held = Loaded(1, 1, complete=True)
    plan = OltpPlan("tpcc", held, 1, 0.1, 3.0, 1, several=(held, held))
    counts = {"users-1-db-1": [7, 5, 5, 5, 5], "users-1-db-2": [7, 5, 5, 5]}
    step_s = interval_for(plan.duration_s)

    def driven(*given: Any) -> dict[str, Any]:
        beside, after = given[-2:]
        for level, found in counts.items():
            recorder.spool(f"ops/{level}").write_text("".join(lines(found, step_s)))
        beside(Ending(), threading.Event())
        lengths = {level: len(found) for level, found in counts.items()}
        for level, intervals in {**lengths, "users-1": max(lengths.values())}.items():
            found = after(level, {"seconds": intervals * step_s})
            # What counts is as long as its rows, which end with the last interval of all.
            assert found.settled
            assert intervals * step_s - found.left_out_s == pytest.approx(3 * step_s)
        return {}

    monkeypatch.setattr(until_steady, "drive", driven)
    extension = UntilSteadyPlan(9.0, lambda _values, _least: 1)
    drive_until_steady(recorder, target, plan, extension, Silent())
    for level in counts:
        rows = list(map(json.loads, recorder.spool(f"ops/{level}").open()))
        places = [
            round((row["t_ns"] - START) / 1e9 / step_s)
            for row in rows
            if row["phase"] == "measure" and row["op"] == "a"
        ]
        assert places == [1, 2, 3]


class Ending:
    """Ends what has ended."""

    def finish(self) -> None: ...

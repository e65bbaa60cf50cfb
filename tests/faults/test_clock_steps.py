"""The wall clock is set by minutes and by days while Dyno works: no duration is wrong by it."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import list_bundles
from dyno.studies.store import StudyStore
from tests.process import end, events, start, wait_for_phase, wait_until
from tests.stepped import Stepped

DAY = 24 * 3600
STEPS = pytest.mark.parametrize(
    "step",
    [-3 * DAY, *(pytest.param(step, marks=pytest.mark.long) for step in (-120, 120, 3 * DAY))],
)

STUDY = """
pairs = 2
headline = ["tps"]
replace = 1
time_limit = "30m"
early_stop = false

[base]
workload = "tpcc"
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


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stepped:
    return Stepped(tmp_path, monkeypatch)


@STEPS
def test_a_run_goes_on_as_if_nothing_were(out: Path, clock: Stepped, step: int) -> None:
    words = ("--users", "2", "--duration", "2s", "--warmup", "0s", "--rate", "100", "--quiet")
    process = start("run", "tpcc", "--target", "null:", *words, "--out", out)
    wait_for_phase(process, out, "oltp")
    wait_until(lambda: list(out.glob("*/ops/*.jsonl")), "transactions")
    clock.set(step)
    code, _, errors = end(process)
    assert code in {0, 1}, errors  # 1: the machine was busy
    (bundle,) = list_bundles(out)
    seen = bundle.run.clock_check
    assert seen is not None
    assert seen.set_s == pytest.approx(step, abs=5)
    assert bundle.run.validity.valid or "clock" not in codes(bundle)
    warned = [one for one in bundle.findings() if one.code == "clock"]
    assert [one.level for one in warned] == ["warning"]
    assert all(0 <= phase.seconds < 600 for phase in bundle.run.phases)
    for moments in (
        [event["t_ns"] for event in events(out)],
        *(bundle.table(name)["t_ns"].to_pylist() for name in ("samples", "ops/rate-100-users-2")),
    ):
        assert moments
        assert max(moments) - min(moments) < 600e9
    assert events(out)[-1]["t_ns"] >= events(out)[0]["t_ns"]


def codes(bundle: Any) -> set[str]:
    return {reason.code for reason in bundle.run.validity.reasons}


@pytest.mark.long
@STEPS
def test_a_study_and_its_time_limit(tmp_path: Path, out: Path, clock: Stepped, step: int) -> None:
    study = tmp_path / "mine.toml"
    study.write_text(STUDY)
    folder = out / "studies" / "mine"
    process = start("study", study, "--out", out)
    wait_until(lambda: list(folder.glob("data-1/*/ops/*")), "a run")
    clock.set(step)
    wait_until(lambda: len(StudyStore.open(folder).entries()) > 0, "an entry")
    process.send_signal(signal.SIGINT)
    code, output, errors = end(process)
    assert code == 130, (output, errors)
    first = StudyStore.open(folder).entries()
    again = start("study", "--resume", folder)
    code, output, errors = end(again)
    assert code in {0, 1}, errors
    made = StudyStore.open(folder).entries()
    assert len(made) >= 4, (output, errors)  # it has used up next to nothing of its time limit
    assert all(0 <= one.ended - one.started < 600 for one in (*first, *made))
    assert "time limit" not in output + errors

"""Clock trouble: a machine that slept, a wall clock that was set."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.model import Clock, ClockCheck
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from tests.bundles import quickstart
from tests.judged import judged


@pytest.mark.parametrize(
    ("check", "valid", "words"),
    [
        (ClockCheck(set_s=0.2, asleep_s=0.0), True, None),
        (ClockCheck(set_s=0.2), True, None),
        (ClockCheck(set_s=0.0, asleep_s=90.0), False, "slept for 90.0 s"),
        (ClockCheck(set_s=-3600.0, asleep_s=0.0), True, "was set back by 1 h"),
    ],
)
def test_clock_checks(tmp_path: Path, check: ClockCheck, valid: bool, words: str | None) -> None:
    bundle = quickstart(tmp_path).write()
    run = bundle.run.model_copy(update={"clock_check": check})
    (bundle.path / "run.json").write_text(run.model_dump_json())
    found = judged(Bundle.open(bundle.path))
    messages = [item.message for item in found.findings if item.code == "clock"]
    assert found.validity.valid is valid
    assert messages == [] if words is None else words in messages[0]


def test_a_run_looks_at_its_clocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(tmp_path, "io", {}, ())
    early = recorder.clock.model_copy(update={"unix_ns": recorder.clock.unix_ns - 5_000_000_000})
    monkeypatch.setattr(recorder, "clock", Clock.model_validate(early.model_dump()))
    recorder.finish("done", None)
    recorder.close()
    seen = Bundle.open(recorder.path).run.clock_check
    assert seen is not None
    assert seen.set_s == pytest.approx(5, abs=0.5)
    assert seen.asleep_s == pytest.approx(0, abs=0.01)

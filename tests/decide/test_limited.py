"""Effects of limits on the engine, in a run's judgement and its report."""

from __future__ import annotations

from pathlib import Path

from dyno.bundle.model import Confined
from dyno.bundle.reader import Bundle
from dyno.decide.judge import definitions
from dyno.report import document, run_report
from tests.bundles import Builder
from tests.judged import Judged, judged


def found(path: Path, confined: Confined) -> Judged:
    builder = Builder(path / "run", verb="run").machine().oltp(4)
    builder.confined = confined
    return judged(builder.write())


def test_a_killed_process_spoils_the_run(tmp_path: Path) -> None:
    confined = Confined(where="server", version=1, limits={"memory": "64MB"}, killed=2)
    result = found(tmp_path, confined)
    (reason,) = (one for one in result.validity.reasons if one.code == "resource-limits")
    assert "killed 2 processes" in reason.message and "64MB" in reason.message


def test_a_driver_that_shares_the_limits_is_a_note(tmp_path: Path) -> None:
    result = found(tmp_path, Confined(where="process", version=2, limits={"cpu": "0.5"}, killed=0))
    assert "resource-limits" not in result.codes()
    (note,) = (item for item in result.findings if item.code == "resource-limits")
    assert note.level == "note"
    assert "cpu = 0.5" in note.message


def test_a_quota_that_was_used_up_is_what_limits(tmp_path: Path) -> None:
    limits = {"cpu": "0.5", "read_bytes": "1MB"}
    for throttled, named in ((90, True), (40, False)):
        confined = Confined(
            where="server", version=2, limits=limits, devices=("vda",),
            periods=100, throttled_periods=throttled, throttled_s=3.2,
        )  # fmt: skip
        result = found(tmp_path / str(throttled), confined)
        codes = {item.code for item in result.findings}
        assert ("limit-quota" in codes) is named
    page = run_report(result.bundle, result.estimates, result.findings, definitions())
    assert "cpu = 0.5, read_bytes = 1MB, on the engine; I/O on vda" in page
    assert "throttled 40 % of the active periods" in page
    made = document(result.bundle, result.estimates, result.findings)
    assert made["limits"]["throttled_periods"] == 40


def test_bundles_keep_them(tmp_path: Path) -> None:
    confined = Confined(where="server", limits={"cpus": "0-1"})
    result = found(tmp_path, confined)
    assert Bundle.open(result.bundle.path).run.confined == confined

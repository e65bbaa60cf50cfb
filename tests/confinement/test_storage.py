"""Storage within limits: a study finds a tenth less, and a limit that falls is reported as one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dyno.analyse import estimate
from dyno.bundle.reader import Bundle, list_bundles
from dyno.config import strict
from dyno.confinement import places
from dyno.decide.judge import judge
from dyno.studies import asked as plans
from dyno.studies.analysis import said
from dyno.studies.build import build
from dyno.studies.form import StudySpec
from dyno.studies.metrics import METRICS
from dyno.studies.outcome import Comparison
from dyno.studies.schedule import schedule
from dyno.studies.store import Entry
from tests.confinement.conftest import Confine, require
from tests.process import assert_valid, dyno, end, start, wait_until

PROFILE = """# Pages at random.
size = "16M"
step = "{step}"

[[curves]]
name = "pages"
pattern = "random"
blocks = ["8K"]
reads = [100]
depths = [16]
"""

STUDY = """
pairs = 5
headline = ["iops"]
margin = 2.0
reset = "nothing"
replace = 0

[base]
workload = "io"
target = "{volume}"

[base.run]
profile = "{profile}"
ceiling = 1000

[base.limits]
read_iops = 2000

[[variants]]
name = "tenth"
"limits.read_iops" = 1800
"""


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[str], Path]:
    """A profile of one step of such a length."""
    require("io")

    def make(step: str) -> Path:
        path = tmp_path / "pages.toml"
        path.write_text(PROFILE.format(step=step))
        return path

    return make


@pytest.mark.long
def test_a_tenth_less_io_is_found(tmp_path: Path, out: Path, asked: Callable[[str], Path]) -> None:
    text = STUDY.format(volume=tmp_path, profile=asked("1s"))
    study = build("throttle", "test", "The study", strict.parse(StudySpec, "The study", text))
    tenth: Comparison | None = None
    for _ in range(4):  # until the machine let the limits be what holds
        entries: list[Entry] = []
        for slot in schedule([one.name for one in study.variants], study.pairs, study.seed):
            plan = plans.run(study.variant(slot.variant), study.reset, 1, None)
            done = dyno(*plan.words(), "--json", "--quiet", "--out", out)
            # A study makes an invalid run again; here other work alone may make one so.
            made = assert_valid(done, "unsteady-storage")
            bundle = Bundle.open(Path(made["bundle"]))
            entries.append(
                Entry(
                    **slot.model_dump(), attempt=1, bundle=None, code=0, valid=True,
                    figures=METRICS["iops"].of(bundle.estimates()), started=0.0, ended=1.0,
                )
            )  # fmt: skip
        (tenth,) = said(study, entries, {}).comparisons
        if tenth.verdict == "worse":
            break
    assert tenth is not None
    assert tenth.verdict == "worse"
    assert tenth.percent == pytest.approx(-10, abs=2)
    run = list_bundles(out)[-1].run
    assert run.plan["limits"].keys() == {"read_iops"}
    assert run.confined is not None and run.confined.devices


@pytest.mark.long
def test_a_limit_that_falls_while_it_is_measured(
    tmp_path: Path, out: Path, asked: Callable[[str], Path], confined: Confine
) -> None:
    """It moves under a lower limit: on Linux 6.1 a changed one causes a burst, then a stall."""
    words = ("io", tmp_path, "--profile", asked("4s"), "--ceiling", "1000")

    def measured() -> Bundle:
        known = set(out.glob("*"))
        process = start(*words, "--limit", "read_iops=2000", "--json", "--out", out)

        def halfway() -> bool:
            assert process.poll() is None, process.communicate()
            files = [file for file in out.glob("*/io_intervals.jsonl") if file.parent not in known]
            return bool(files) and len(files[0].read_text().splitlines()) >= 20

        with confined("read_iops=1000"):
            own = f"dyno-limit-{os.getpid()}-*"
            (lower,) = (group for place in places.parents() for group in place.glob(own))
            wait_until(halfway, "half of the step")
            (lower / "cgroup.procs").write_text(str(process.pid))
            end(process)
        (made,) = (bundle for bundle in list_bundles(out) if bundle.path not in known)
        return made

    def codes(bundle: Bundle) -> set[str]:
        return {reason.code for reason in judge(bundle, estimate(bundle))[0].reasons}

    bundle = measured()
    for _ in range(3):  # until the machine let the limits be what holds
        if codes(bundle) != {"background-load"}:
            break
        bundle = measured()
    found = codes(bundle)
    findings = judge(bundle, estimate(bundle))[1]
    assert "throttled-storage" in found
    assert "unsteady-storage" not in found
    (drop,) = (item for item in findings if item.code == "throttled-storage")
    values = {item.name.rpartition(".")[2]: item.value for item in estimate(bundle)}
    assert values["drop_from_iops"] == pytest.approx(2000, rel=0.1)
    assert values["drop_to_iops"] == pytest.approx(1000, rel=0.1)
    assert f"from {values['drop_from_iops']:,.0f} to {values['drop_to_iops']:,.0f}" in drop.message
    (phase,) = (phase for phase in bundle.run.phases if phase.kind == "io")
    began_s = (phase.start_ns - bundle.run.clock.unix_ns) / 1e9
    assert began_s + 1.5 < values["drop_at_s"] < began_s + phase.seconds - 1

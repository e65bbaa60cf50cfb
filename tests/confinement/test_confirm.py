"""``--confirm-limit``: a planted quota is confirmed, and what cannot be changed is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.model import Phase, those
from dyno.bundle.phases.confirm import ConfirmDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.decide.bottleneck import Bottleneck
from dyno.decide.case import Case
from dyno.decide.view import Limit
from dyno.plans.run import RunPlan
from dyno.runner import confirm
from dyno.runner.events import SilentEvents
from dyno.runner.run import job
from dyno.runner.session import run_session
from tests.confinement.conftest import require
from tests.process import dyno

TARGET = "embedded:postgresql"


def measured(
    out: Path, monkeypatch: pytest.MonkeyPatch, code: str, resource: str, *limits: str
) -> tuple[Bundle, ConfirmDetail]:
    """A short run whose bottleneck is taken as given: a busy machine may have another."""

    def named(case: Case) -> list[Bottleneck]:
        level: Phase = those(case.bundle.run.phases, OltpDetail)[0]
        return [Bottleneck(level, code, Limit(resource, 1.0, "planted", ()))]

    monkeypatch.setattr(confirm, "bottlenecks", named)
    monkeypatch.setattr(confirm, "PAIRS", 4)
    monkeypatch.setattr(confirm, "LOOKS", 1)
    plan = RunPlan(
        workload="tpcc", target=TARGET, users=(4,), duration="4s", warmup="1s", limits=limits,
        confirm_limit=True, no_criteria=True, out=out,
    )  # fmt: skip
    ended = run_session(job(plan), SilentEvents())
    bundle = Bundle.open(ended.path)
    (phase,) = those(bundle.run.phases, ConfirmDetail)
    return bundle, phase.detail


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("cpu")
    out = tmp_path_factory.mktemp("confirm")
    done = dyno("load", "tpcc", "--target", TARGET, "--scale", "1", "--quiet", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    return out


@pytest.mark.long
def test_a_quota_that_binds_is_confirmed(loaded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle, detail = measured(loaded, monkeypatch, "quota", "CPU quota", "cpu=0.15")
    assert detail.changed == {"cpu": 0.15}
    factors = [window.factor for window in detail.windows]
    assert factors == [1.2, 0.8, 0.8, 1.2] * 2
    assert detail.elasticity is not None and detail.elasticity > 0.2, detail
    assert detail.low is not None and detail.low < detail.elasticity < (detail.high or 0)
    # The windows are in the bundle, but only the level counts.
    assert bundle.levels() == ["users-4"]
    aside = [phase for phase in bundle.run.phases if phase.kind == "superseded"]
    assert len(aside) == 8
    codes = {finding.code for finding in bundle.findings()}
    assert "repeated" not in codes
    assert bundle.run.confined is not None and bundle.run.confined.limits == {"cpu": "0.15"}


@pytest.mark.long
def test_what_cannot_be_changed_is_said(loaded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle, detail = measured(loaded, monkeypatch, "locks", "locks")
    assert detail.reason == "Dyno cannot change locks"
    assert detail.elasticity is None and not detail.windows
    level = those(bundle.run.phases, OltpDetail)[0]
    (finding,) = (
        one
        for one in bundle.findings()
        if one.phase == level.name and one.code.startswith("limit-")
    )
    # The test is of the planted resource: nothing is said of another.
    assert "elasticity" not in finding.message


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--target", "postgresql://db1/shop"], "private engines only"),
        (["--target", "embedded:sqlite"], "requires a server"),
        (["--target", TARGET, "--rate", "100"], "cannot be combined"),
        (["--target", TARGET, "--find-max"], "cannot be combined"),
        (["--target", TARGET, "--limit", "cpus=0"], "cannot be combined"),
        (["--target", TARGET, "--databases", "2"], "cannot be combined"),
    ],
)
def test_runs_that_cannot_test_a_limit_are_refused(
    tmp_path: Path, words: list[str], reason: str
) -> None:
    done = dyno("run", "tpcc", *words, "--confirm-limit", "--out", tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr

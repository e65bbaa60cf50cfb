"""The search for the maximum, where the server takes only so many sessions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from dyno.bundle.model import Phase, those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Limits, Loaded, Target
from dyno.criteria import metrics, parse
from dyno.decide.findmax import Range
from dyno.errors import DatabaseError, Interrupted, TargetError
from dyno.runner import search as _search
from dyno.runner.events import SilentEvents
from dyno.runner.findmax import Search
from dyno.runner.session import Session
from dyno.stages import drive
from dyno.stages.drive import OltpPlan
from dyno.targets import open_target
from dyno.targets import parse as parse_url
from tests.process import document, dyno

SLO = {"slo": [{"text": "errors total = 0", "source": "asked for"}]}


class Bench:
    """A session without a command line, on the null target."""

    def __init__(self, out: Path) -> None:
        self.events = SilentEvents()
        self.recorder = Recorder(out, "run", SLO, ("tpcc",))
        self.target = open_target(parse_url("null:?mean_us=1000"), out, Limits(1 << 30, 1))

    def probed(self, _target: Target) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def search(self) -> None:
        slo = parse("errors = 0", metrics(()))
        search = Search(Range("users", 1.0, 64.0), (slo,), True, 1, 0.05, 0.6, 600.0)
        plan = OltpPlan("tpcc", Loaded(1, 1, complete=True), 1, 0.05, 0.6, 1, interval_s=0.01)
        _search.find_max(cast("Session", self), self.target, search, plan)

    @property
    def phase(self) -> Phase:
        return next(phase for phase in self.recorder.run.phases if phase.kind == "search")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Windows so short are unsteady, and their driver late, on a busy machine: neither counts."""
    real = _search.trial

    def settled(*args: Any, **kwargs: Any) -> Any:
        return replace(real(*args, **kwargs), unsteady="", client_bound="")

    monkeypatch.setattr(_search, "trial", settled)
    return Bench(tmp_path)


def refusing(most: int, error: Exception) -> Callable[..., Any]:
    real = drive.drive

    def driven(recorder: Recorder, target: Target, plan: OltpPlan, *rest: Any) -> Any:
        if plan.users > most:
            raise error
        return real(recorder, target, plan, *rest)

    return driven


def test_a_server_with_no_more_sessions_bounds_the_search(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = TargetError("too many clients already", kind="too_many_connections")
    monkeypatch.setattr(_search.drive, "drive", refusing(4, refusal))
    bench.search()
    detail = bench.phase.detail
    assert (detail.best, detail.failing, detail.confirmed) == (4, 5, True)
    assert {"users-8", "users-6", "users-5"} <= set(detail.refused)
    words = {window.level: window.words for window in detail.windows}
    assert words["users-8"] == "too many clients already"


def test_a_server_that_is_gone_ends_the_search(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = TargetError("every user lost the server", kind="connection_lost")
    monkeypatch.setattr(_search.drive, "drive", refusing(2, lost))

    def gone() -> Any:
        raise TargetError("nobody answers")

    monkeypatch.setattr(bench.target, "facts", gone)
    with pytest.raises(TargetError, match="every user lost the server"):
        bench.search()
    assert bench.phase.status == "failed"
    assert bench.phase.detail.stopped == "broken-off"
    assert [window.load for window in bench.phase.detail.windows] == [1, 2]


def test_an_error_that_is_no_lack_of_sessions_ends_the_search(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = DatabaseError("function does not exist", kind="database")
    monkeypatch.setattr(_search.drive, "drive", refusing(2, wrong))
    with pytest.raises(DatabaseError, match="function does not exist"):
        bench.search()
    assert bench.phase.status == "failed"


def test_what_was_tried_before_an_interruption_is_kept(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_search.drive, "drive", refusing(2, Interrupted("Interrupted.")))
    with pytest.raises(Interrupted):
        bench.search()
    assert bench.phase.status == "interrupted"
    assert bench.phase.detail.best == 2
    assert bench.phase.detail.confirmed is False


def test_no_window_repeats_the_inputs_of_another(bench: Bench) -> None:
    bench.search()
    details = [phase.detail for phase in those(bench.recorder.run.phases, OltpDetail)]
    assert len(details) > 1
    assert len({detail.seed for detail in details}) == len(details)


def test_no_level_repeats_the_inputs_of_another(tmp_path: Path) -> None:
    args = ("--users", "1", "--users", "2", "--warmup", "0", "--duration", "1s", "--seed", "7")
    done = dyno("run", "tpcc", "--target", "null:", *args, "--json", "--out", tmp_path)
    phases = Bundle.open(Path(document(done)["bundle"])).run.phases
    first, second = (phase.detail.seed for phase in those(phases, OltpDetail))
    assert first == 7
    assert second != 7

"""Signals: the first ends the work wherever it strikes; the bundle is concluded all the same."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import list_bundles
from dyno.cli._console import Console
from dyno.errors import FaultError, UsageError
from dyno.plans.quickstart import QuickstartPlan
from dyno.runner import conclude
from dyno.runner import session as _session
from dyno.runner.session import Job
from dyno.runner.signals import Signals
from dyno.runtime import interrupts
from tests.process import COMMAND, end, start, wait_for_phase

RUN = ("run", "tpcc", "--target", "null:?mean_us=500&scale=2", "--warmup", "1s", "--json")
PHASE = "oltp-tpcc-null"


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def session(out: Path, body: Callable[[Any], None]) -> int:
    job = Job(QuickstartPlan(out=out), {}, (), out, body)
    return _session.run_session(job, Console(quiet=True, as_json=True)).code


def test_ctrl_c_is_answered_at_once(out: Path) -> None:
    process = start(*RUN, "--duration", "10m", "--out", out)
    wait_for_phase(process, out, PHASE)
    os.kill(process.pid, signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130
    assert 0 < errors.index("Stopping") < errors.index("Interrupted.")


def test_nohup_outlives_its_terminal(out: Path) -> None:
    words = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *COMMAND, *RUN]
    words += ["--duration", "4s", "--out", str(out)]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for_phase(process, out, PHASE)
    os.kill(process.pid, signal.SIGHUP)
    code, _, errors = end(process)
    assert code in {0, 1}, errors
    assert list_bundles(out)[0].run.status == "done"


def test_signals_raise_only_during_the_work() -> None:
    asked = interrupts.count()
    with Signals() as signals:
        signals.begin_work()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        interrupt()
        assert interrupts.count() == asked + 1
        signals.end_work()
        interrupt()
    with Signals() as signals:
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            signals.begin_work()
    with Signals() as signals:
        signals.begin_work()
        signals.end_work()
        interrupt()


@pytest.mark.parametrize("moment", ["Recorder", "Signals.begin_work", "Signals.end_work"])
def test_a_signal_between_the_stages_leaves_a_concluded_bundle(
    out: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _, method = moment.partition(".")
    real = getattr(_session, name)
    if method:
        whole = getattr(real, method)

        def struck(self: Any) -> None:
            interrupt()
            whole(self)

        monkeypatch.setattr(real, method, struck)
    else:

        def made(*args: Any) -> Any:
            recorder = real(*args)
            interrupt()
            return recorder

        monkeypatch.setattr(_session, name, made)
    assert session(out, lambda _: None) == 130
    (bundle,) = list_bundles(out)
    assert bundle.run.status == "interrupted"
    assert bundle.run.validity.valid is False
    assert (bundle.path / "sheet.html").exists()


def test_a_fault_of_the_analysis_hides_neither_the_bundle_nor_the_first_error(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(_: Any) -> None:
        raise ZeroDivisionError("by nothing")

    def body(_: Any) -> None:
        raise UsageError("The first error.")

    monkeypatch.setattr(conclude, "estimate", fault)
    assert session(out, body) == 2
    with pytest.raises(FaultError):
        session(out, lambda _: None)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("dyno:")]
    newest, oldest = (bundle.path for bundle in list_bundles(out))
    assert lines[0] == "dyno: The first error."
    for line, path in ((lines[1], oldest), (lines[2], newest)):
        assert "by nothing" in line
        assert f"`dyno report {path}`" in line

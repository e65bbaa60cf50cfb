"""Long calls: their results, their errors, and Ctrl-C."""

from __future__ import annotations

import _thread
import json
import signal
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from dyno import _core
from dyno.errors import DynoError, Interrupted
from dyno.runtime.engine_calls import interruptible, run_engine, run_engines
from dyno.runtime.progress import Silent
from dyno.stages.drive.gate import at_once


def test_results_and_errors_come_through() -> None:
    assert interruptible(lambda: 5, lambda: None) == 5
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0, lambda: None)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's own handler, also where the tests' parent ignores the signal."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_cancels_the_work_and_waits_for_it() -> None:
    cancelled, ended = threading.Event(), threading.Event()

    def work() -> None:
        _thread.interrupt_main()
        cancelled.wait(30)
        ended.set()

    with pytest.raises(Interrupted):
        interruptible(work, cancelled.set)
    assert ended.is_set()


def test_progress_is_polled_meanwhile() -> None:
    polled = threading.Event()
    assert interruptible(lambda: polled.wait(30), lambda: None, polled.set)


def test_ctrl_c_while_the_thread_is_being_started(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, ended = threading.Event(), threading.Event()

    def work() -> None:
        cancelled.wait(30)
        ended.set()

    def start(thread: threading.Thread) -> None:
        _thread.start_new_thread(thread.run, ())  # it runs, but does not count as started yet
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(Interrupted):
        interruptible(work, cancelled.set)
    assert ended.is_set()


def test_what_prepares_the_engines_thread_adds_to_the_outcome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[int] = []

    def engine(plan: str, control: object) -> str:
        threads.append(threading.get_ident())
        return json.dumps({"got": json.loads(plan)["a"]})

    def prepare(plan: dict[str, Any]) -> dict[str, Any]:
        threads.append(threading.get_ident())
        return {"prepared": plan["a"] + 1}

    monkeypatch.setattr(_core, "drive", engine)
    assert run_engine("drive", {"a": 1}, Silent(), None, prepare) == {"got": 1, "prepared": 2}
    both = run_engines("drive", [{"a": 1}, {"a": 5}], Silent(), None, prepare)
    assert both == [{"got": 1, "prepared": 2}, {"got": 5, "prepared": 6}]
    assert threads[0] == threads[1] != threading.get_ident()


class Control:
    """A control handle whose engine is ready when the test says so."""

    made: ClassVar[list[Control]] = []

    def __init__(self) -> None:
        self.ready, self.held = False, False
        self.let, self.cancelled = threading.Event(), threading.Event()
        self.ready_at_release: list[bool] = []
        self.made.append(self)

    def progress(self) -> dict[str, Any]:
        return {"done": 0, "total": 0, "step": ""}

    def hold(self) -> None:
        self.held = True

    def release(self) -> None:
        self.ready_at_release = [one.ready for one in self.made]
        self.let.set()

    def cancel(self) -> None:
        self.cancelled.set()
        self.let.set()


@pytest.fixture
def controls(monkeypatch: pytest.MonkeyPatch) -> list[Control]:
    monkeypatch.setattr(Control, "made", [])
    monkeypatch.setattr(_core, "Control", Control)
    return Control.made


def test_engines_that_are_held_begin_together(
    monkeypatch: pytest.MonkeyPatch, controls: list[Control]
) -> None:
    begun = threading.Event()

    def engine(plan: str, control: Control) -> str:
        assert control.held
        if json.loads(plan)["last"]:
            # It is ready once the others wait.
            assert all(one.ready or one is control for one in controls) or begun.wait(30)
        control.ready = True
        begun.set()
        assert control.let.wait(30)
        return "{}"

    followed = threading.Event()
    monkeypatch.setattr(_core, "drive", engine)
    plans = [{"last": False}, {"last": True}]
    beside = at_once(lambda _, ended: followed.set() if not ended.is_set() else None)
    assert run_engines("drive", plans, Silent(), beside, held=True) == [{}, {}]
    assert [one.ready_at_release for one in controls] == [[True, True], [True, True]]
    assert followed.is_set()


def test_one_that_ends_before_it_is_ready_holds_up_none(
    monkeypatch: pytest.MonkeyPatch, controls: list[Control]
) -> None:
    def engine(plan: str, control: Control) -> str:
        if not json.loads(plan)["ends"]:
            control.ready = True
            assert control.let.wait(30)
        return "{}"

    monkeypatch.setattr(_core, "drive", engine)
    plans = [{"ends": True}, {"ends": False}]
    assert run_engines("drive", plans, Silent(), at_once(None), held=True) == [{}, {}]


def test_one_that_fails_before_it_is_ready_stops_the_others(
    monkeypatch: pytest.MonkeyPatch, controls: list[Control]
) -> None:
    def engine(plan: str, control: Control) -> str:
        if json.loads(plan)["fails"]:
            raise _core.EngineError("connection_lost", "no")
        control.ready = True
        assert control.let.wait(30)
        return "{}"

    monkeypatch.setattr(_core, "drive", engine)
    with pytest.raises(DynoError):
        run_engines(
            "drive", [{"fails": True}, {"fails": False}], Silent(), at_once(None), held=True
        )
    assert all(one.cancelled.is_set() for one in controls)

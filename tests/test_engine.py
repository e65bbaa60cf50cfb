"""Long calls: their results, their errors, and Ctrl-C."""

from __future__ import annotations

import _thread
import json
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dyno import _core
from dyno.errors import Interrupted
from dyno.runtime.engine_calls import interruptible, run_engine, run_engines
from dyno.runtime.progress import Silent


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

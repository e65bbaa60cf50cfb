"""The common start: nobody begins before all others are ready, and a failed one holds up none."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from dyno.errors import Interrupted
from dyno.stages.drive.gate import Gate, Start


def test_nobody_begins_before_the_last_is_ready() -> None:
    gate, begun = Gate(3), threading.Semaphore(0)
    starts = [Start(gate) for _ in range(3)]

    def work(start: Start) -> None:
        start.ready()
        begun.release()

    threads = [threading.Thread(target=work, args=(start,)) for start in starts[:2]]
    for thread in threads:
        thread.start()
    assert not begun.acquire(blocking=False)
    work(starts[2])
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_one_that_failed_before_the_start_holds_up_none() -> None:
    gate = Gate(2)
    failed, other = Start(gate), Start(gate)
    failed.ended()
    failed.ended()  # counts once
    other.ready()


def test_one_that_was_ready_leaves_only_once() -> None:
    gate = Gate(2)
    first, second = Start(gate), Start(gate)
    thread = threading.Thread(target=first.ready)
    thread.start()
    second.ready()
    thread.join(10)
    first.ended()
    third = Start(gate)
    third.ready()


def test_a_cancelled_start_ends_the_wait_and_cancels_the_work() -> None:
    start, cancelled = Start(Gate(2)), threading.Event()
    failure: list[BaseException] = []

    def work() -> None:
        try:
            start.ready(cancelled.set)
        except Interrupted as error:
            failure.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    start.cancel()
    thread.join(10)
    assert failure and cancelled.is_set()
    with pytest.raises(Interrupted):
        start.check()


class Engine:
    """A handle of an engine that is ready at once, or never."""

    def __init__(self, *, ready: bool) -> None:
        self.ready, self.released, self.cancelled = ready, threading.Event(), False

    def progress(self) -> dict[str, Any]:
        return {}

    def finish(self) -> None: ...

    def cancel(self) -> None:
        self.cancelled = True

    def release(self) -> None:
        self.released.set()


def test_an_engine_is_held_until_the_others_are_ready() -> None:
    gate, engine, ended = Gate(2), Engine(ready=True), threading.Event()
    thread = threading.Thread(target=Start(gate).beside, args=(engine, ended))
    thread.start()
    assert not engine.released.is_set()
    Start(gate).ready()
    assert engine.released.wait(10)
    ended.set()
    thread.join(10)
    assert not thread.is_alive()


def test_an_engine_that_failed_to_connect_holds_up_none() -> None:
    gate, engine, ended = Gate(2), Engine(ready=False), threading.Event()
    start = Start(gate)
    ended.set()
    start.beside(engine, ended)
    start.ended()
    Start(gate).ready()
    assert not engine.released.is_set()


def test_work_that_begins_after_the_cancellation_is_cancelled_at_once() -> None:
    start, cancelled = Start(Gate(1)), threading.Event()
    start.cancel()
    with pytest.raises(Interrupted):
        start.ready(cancelled.set)
    assert cancelled.is_set()

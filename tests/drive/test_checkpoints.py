"""Checkpoints of a level are those that began between the end of its warm-up and its own end."""

from __future__ import annotations

import threading
from typing import cast

import pytest

from dyno.contracts.checkpoints import Checkpoints
from dyno.contracts.target import Target
from dyno.errors import TargetError
from dyno.runtime.progress import Silent
from dyno.stages.drive import checkpoints
from dyno.stages.drive.checkpoints import CheckpointCount


class Counting:
    """A server that has begun so many."""

    def __init__(self, begun: int) -> None:
        self.begun = begun
        self.full = False

    def checkpoints(self) -> Checkpoints:
        if self.full:
            raise TargetError("no connection left", kind="too_many_connections")
        return Checkpoints(self.begun, 300.0, "interval", "counter")


def level(server: Counting, warmup_s: float = 5.0) -> CheckpointCount:
    return CheckpointCount(cast("Target", server), Silent(), warmup_s)


def test_those_of_the_warm_up_do_not_count() -> None:
    server = Counting(7)
    counted = level(server)
    counted.update(100, 15_000)
    server.begun = 9
    for done in (4_900, 5_100, 5_200):
        counted.update(done, 15_000)
    server.begun = 11
    counted.update(15_000, 15_000)
    assert counted.counted().model_dump() == {
        "count": 2,
        "interval_s": 300.0,
        "setting": "interval",
        "source": "counter, after − before",
    }


def test_what_is_not_known_leaves_no_figure() -> None:
    reset = Counting(7)
    counted = level(reset)
    counted.update(6_000, 15_000)
    reset.begun = 1
    assert counted.counted() is None

    full = Counting(7)
    full.full = True
    counted = level(full)
    counted.update(6_000, 15_000)
    full.full = False
    counted.update(7_000, 15_000)  # too late: part of the window is over
    assert counted.counted() is None

    cut_off = level(Counting(7))
    cut_off.update(1_000, 15_000)
    assert cut_off.counted() is None
    none = CheckpointCount(cast("Target", object()), Silent(), 0.0)
    none.update(1_000, 15_000)
    assert none.counted() is None


def test_a_server_that_answers_no_more_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "LONGEST_S", 0.05)
    answered = threading.Event()

    class Silenced(Counting):
        def checkpoints(self) -> Checkpoints:
            answered.wait()
            return super().checkpoints()

    counted = level(Silenced(7))
    counted.update(6_000, 15_000)
    assert counted.counted() is None
    answered.set()


def test_a_fault_of_dyno_is_not_hidden() -> None:
    class Faulty(Counting):
        def checkpoints(self) -> Checkpoints:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        level(Faulty(7)).update(6_000, 15_000)

"""Work that takes too long is cancelled until it ends, and reported in one way."""

from __future__ import annotations

import threading

import pytest

from dyno.errors import DatabaseError, TargetError
from dyno.runtime.deadline import Deadline, within


class Statement:
    """Work that ends with an error at the cancellation of this number."""

    def __init__(self, heeds: int = 1) -> None:
        self.cancelled, self._heeds = 0, heeds
        self._stopped = threading.Event()

    def cancel(self) -> None:
        self.cancelled += 1
        if self.cancelled == self._heeds:
            self._stopped.set()

    def run(self) -> int:
        assert self._stopped.wait(300)
        raise DatabaseError("canceling statement due to user request")


def test_a_cancellation_that_is_lost_is_sent_again() -> None:
    statement = Statement(heeds=3)
    with pytest.raises(TargetError, match="did not finish within 1 ms") as caught:
        within(0.001, statement.run, statement.cancel)
    assert caught.value.kind == "timeout"
    assert statement.cancelled == 3


@pytest.mark.parametrize("seconds", [None, 600])
def test_work_in_time_is_left_alone(seconds: float | None) -> None:
    statement = Statement()
    assert within(seconds, lambda: 5, statement.cancel) == 5
    with pytest.raises(DatabaseError, match="no such table"):
        within(seconds, lambda: _fail(DatabaseError("no such table")), statement.cancel)
    assert statement.cancelled == 0


def test_what_has_ended_is_not_cancelled_any_more() -> None:
    statement = Statement()
    deadline = Deadline(0, statement.cancel)
    with pytest.raises(TargetError, match="did not finish"), deadline:
        pass
    deadline.expire()
    assert statement.cancelled == 0


def test_a_lost_server_is_reported_however_late() -> None:
    lost = TargetError("the server is gone", kind="connection_lost")
    with pytest.raises(TargetError, match="gone"), Deadline(0, lambda: None):
        raise lost


def _fail(error: Exception) -> int:
    raise error

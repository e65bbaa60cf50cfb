"""A server that is about to end is distinguished from one that only lost a session."""

from __future__ import annotations

import threading

import pytest

from dyno.servers import ending


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "_SEEN_S", 0.0)
    monkeypatch.setattr(ending, "_POLL_S", 0.0)


def test_one_that_takes_sessions_is_well() -> None:
    assert ending.ended(threading.Event(), lambda: True) is False


def test_one_that_has_ended_is_not_asked() -> None:
    exited = threading.Event()
    exited.set()
    assert ending.ended(exited, lambda: pytest.fail("it was asked"))


def test_one_that_is_slow_to_end_is_waited_for() -> None:
    exited, asked = threading.Event(), iter(range(3))

    def answers() -> bool:
        if next(asked) == 2:
            exited.set()
        return False

    assert ending.ended(exited, answers)


def test_one_that_neither_ends_nor_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "_PATIENCE_S", 0.0)
    assert ending.ended(threading.Event(), lambda: False) is False

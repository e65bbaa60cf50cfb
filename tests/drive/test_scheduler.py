"""Driver threads give way to a server only where no start is due at a moment."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

from dyno.stages.drive import scheduler

CLOSED = {"kind": "closed", "think": False}


def policy_after(plan: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """What was said of a plan in a thread of its own, and the thread's policy then."""
    seen: list[tuple[dict[str, Any], int]] = []

    def run() -> None:
        seen.append((scheduler.yield_to_server(plan), os.sched_getscheduler(0)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return seen[0]


@pytest.mark.parametrize(
    ("wire", "loop", "yields"),
    [
        ("postgres", CLOSED, True),
        ("mysql", {"kind": "closed"}, True),
        ("postgres", {"kind": "closed", "think": True}, False),
        ("postgres", {"kind": "open", "rate_per_s": 5}, False),
        ("sqlite", CLOSED, False),
        ("null", CLOSED, False),
    ],
)
def test_closed_loops_against_servers_yield(wire: str, loop: dict[str, Any], yields: bool) -> None:
    before = os.sched_getscheduler(0)
    said, policy = policy_after({"wire": {"kind": wire}, "loop": loop})
    assert said == {"yields": yields}
    assert (policy == os.SCHED_BATCH) == yields
    assert os.sched_getscheduler(0) == before


def test_a_sandbox_that_forbids_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*args: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", denied)
    said, policy = policy_after({"wire": {"kind": "mysql"}, "loop": CLOSED})
    assert (said, policy) == ({"yields": False}, os.SCHED_OTHER)

"""Driver threads give way to a server only where no start is due at a moment."""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dyno import targets
from dyno.contracts.target import Target
from dyno.stages.drive import scheduler

CLOSED = {"kind": "closed", "think": False}


def policy_after(loop: dict[str, Any], *, server: bool) -> tuple[dict[str, Any], int]:
    """What was said of a loop in a thread of its own, and the thread's policy then."""
    seen: list[tuple[dict[str, Any], int]] = []

    def run() -> None:
        said = scheduler.yield_to_server({"loop": loop}, server=server)
        seen.append((said, os.sched_getscheduler(0)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return seen[0]


@pytest.mark.parametrize(
    ("server", "loop", "yields"),
    [
        (True, CLOSED, True),
        (True, {"kind": "closed"}, True),
        (True, {"kind": "closed", "think": True}, False),
        (True, {"kind": "open", "rate_per_s": 5}, False),
        (False, CLOSED, False),
    ],
)
def test_closed_loops_against_servers_yield(
    server: bool, loop: dict[str, Any], yields: bool
) -> None:
    before = os.sched_getscheduler(0)
    said, policy = policy_after(loop, server=server)
    assert said == {"yields": yields}
    assert (policy == os.SCHED_BATCH) == yields
    assert os.sched_getscheduler(0) == before


def test_a_target_says_whether_it_is_a_server() -> None:
    def asked(name: str) -> bool:
        prepare = scheduler.gives_way(cast("Target", SimpleNamespace(name=name)))
        found: list[bool] = []
        plan = {"loop": CLOSED}
        thread = threading.Thread(target=lambda: found.append(prepare(plan)["yields"]))
        thread.start()
        thread.join()
        return found[0]

    servers = {"mysql", "postgresql", "sqlserver"}
    assert {name for name in targets.names() if asked(name)} == servers


def test_a_sandbox_that_forbids_it_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*args: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", denied)
    said, policy = policy_after(CLOSED, server=True)
    assert (said, policy) == ({"yields": False}, os.SCHED_OTHER)

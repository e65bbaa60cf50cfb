"""The isolation scenarios on real engines: where they hold, and that they can fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from dyno import _core, targets, workloads
from dyno.bundle.model import Check
from dyno.contracts.isolation import Isolates, Isolation, require
from dyno.contracts.target import Connection, Limits, Loaded, LoadPlan, Target
from dyno.errors import UsageError
from dyno.workloads.actors import Stage
from dyno.workloads.tpcc.isolation import check_isolation
from dyno.workloads.tpcc.isolation.scenarios import SCENARIOS
from tests.mariadb import require_mariadb

LIMITS = Limits(memory_bytes=512 << 20, threads=2)
LOADED = Loaded(1, 1, complete=True)


@pytest.fixture(
    scope="module",
    params=["postgresql", pytest.param("mysql", marks=pytest.mark.long), "sqlite"],
)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    if request.param == "mysql":
        require_mariadb()
    out = tmp_path_factory.mktemp(request.param)
    with targets.open_target(targets.parse(f"embedded:{request.param}"), out, LIMITS) as opened:
        opened.create_tables("tpcc", replace=False)
        opened.load(LoadPlan("tpcc", 1, 1, 2), _core.Control())
        opened.index("tpcc", threading.Event(), lambda *_: None)
        opened.mark("tpcc", LOADED)
        yield opened


def played(
    target: Target, level: str | None = None, isolation: Isolation | None = None
) -> dict[int, Check]:
    found, meant = require(target, level)
    checks = check_isolation(target.name, lambda: target.connect("tpcc"), isolation or found, meant)
    return {int(item.name.split()[1]): item for item in checks}


def failed(checks: dict[int, Check]) -> set[int]:
    return {number for number, item in checks.items() if item.passed is not True}


@pytest.mark.long
def test_all_hold_where_a_transaction_sees_one_moment(target: Target) -> None:
    level = {"sqlite": "serializable"}.get(target.name, "repeatable-read")
    checks = played(target, level)
    assert list(checks) == list(range(1, 10))
    assert failed(checks) == set(), [item.message for item in checks.values()]
    # What they committed is as consistent as what a run commits.
    after = workloads.get("tpcc").check(target.name, lambda: target.connect("tpcc"), LOADED, "run")
    assert [item.message for item in after if item.passed is False] == []


def test_read_committed_does_not_promise_that_reading_again_finds_the_same(target: Target) -> None:
    if target.name == "sqlite":
        with pytest.raises(UsageError, match="it has serializable"):
            require(target, "read-committed")
        return
    checks = played(target, "read-committed")
    assert failed(checks) == {7, 8, 9}
    assert "fails at read-committed" in checks[7].message
    assert "the price at the second reading" in checks[7].message


class Slow:
    """A session whose statements take time."""

    def __init__(self, session: Connection, pause: str) -> None:
        self._session, self._pause = session, pause

    def execute(self, sql: str) -> Any:
        self._session.execute(self._pause)
        return self._session.execute(sql)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def test_a_slow_server_does_not_pass_for_one_that_makes_others_wait(target: Target) -> None:
    """A New-Order that takes longer than usual still ends before the second reading."""
    pauses = {"postgresql": "SELECT pg_sleep(0.1)", "mysql": "SELECT SLEEP(0.1)"}
    if target.name not in pauses:
        return
    isolation, level = require(target, "read-committed")
    stage = Stage(
        lambda: cast("Connection", Slow(target.connect("tpcc"), pauses[target.name])),
        lambda writes: isolation.begin(level, writes),
    )
    seen = SCENARIOS[7].play(stage)
    assert seen.facts["the New-Order"] == "went on"
    assert len(seen.faults) == 1


def test_what_is_not_committed_is_seen_where_it_may_be(target: Target) -> None:
    if target.name != "mysql":
        with pytest.raises(UsageError, match="does not support the level read-uncommitted"):
            require(target, "read-uncommitted")
        return
    checks = played(target, "read-uncommitted")
    assert {1, 2} <= failed(checks)
    assert "the order that T2 saw" in checks[2].message


def test_transactions_that_are_none_fail(target: Target) -> None:
    """Without a transaction each statement commits by itself: hardly anything can hold."""
    statement = "SET @nothing = 1" if target.name == "mysql" else "SELECT 1"
    none = Isolation(("none",), "none", lambda *_: (statement,))
    found = failed(played(target, None, none))
    assert {2, 7, 8, 9} <= found


def test_the_default_level_is_the_live_systems(target: Target) -> None:
    assert isinstance(target, Isolates)
    _, level = require(target, None)
    expected = {
        "postgresql": "read-committed",
        "mysql": "repeatable-read",
        "sqlite": "serializable",
    }
    assert level == expected[target.name]


def test_a_target_without_transactions_is_refused(tmp_path: Path) -> None:
    null = targets.open_target(targets.parse("null:"), tmp_path, LIMITS)
    with pytest.raises(UsageError, match="no concurrent transactions"):
        require(null, None)

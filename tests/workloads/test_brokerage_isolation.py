"""The brokerage's isolation scenarios on real engines: where they hold, and that they can fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dyno import targets, workloads
from dyno.bundle.model import Check
from dyno.contracts.isolation import Isolation, require
from dyno.contracts.target import Limits, Loaded, Target
from dyno.workloads.brokerage.isolation import check_isolation
from tests.maintained import fill
from tests.mariadb import require_mariadb

LIMITS = Limits(memory_bytes=512 << 20, threads=2)
LOADED = Loaded(0.1, 1, complete=True, days=1)


@pytest.fixture(
    params=[
        "postgresql",
        pytest.param("mysql", marks=pytest.mark.long),
        pytest.param("sqlite", marks=pytest.mark.long),
    ]
)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    if request.param == "mysql":
        require_mariadb()
    out = tmp_path_factory.mktemp(request.param)
    with targets.open_target(targets.parse(f"embedded:{request.param}"), out, LIMITS) as opened:
        fill(opened, "brokerage", LOADED.scale, LOADED.days)
        yield opened


def played(target: Target, level: str, isolation: Isolation | None = None) -> dict[int, Check]:
    found = isolation or require(target, level)[0]
    checks = check_isolation(target.name, lambda: target.connect("brokerage"), found, level)
    return {int(item.name.split()[1]): item for item in checks}


def failed(checks: dict[int, Check]) -> set[int]:
    return {number for number, item in checks.items() if item.passed is not True}


def violated(target: Target) -> list[str]:
    check = workloads.get("brokerage").check
    checks = check(target.name, lambda: target.connect("brokerage"), LOADED, "run")
    return [f"{item.name}: {item.message}" for item in checks if item.passed is False]


def test_levels_are_told_apart(target: Target) -> None:
    strong = "serializable" if target.name == "sqlite" else "repeatable-read"
    checks = played(target, strong)
    assert list(checks) == list(range(1, 10))
    assert failed(checks) == set(), [item.message for item in checks.values()]

    if target.name != "sqlite":
        checks = played(target, "read-committed")
        assert failed(checks) == {7, 8, 9}, [item.message for item in checks.values()]
        assert "shares that belong to the cash" in checks[7].message
    if target.name == "mysql":
        checks = played(target, "read-uncommitted")
        assert failed(checks) == {3, 6, 7, 8, 9}, [item.message for item in checks.values()]
    # What they commit is as consistent as what a run commits, and leaves work to no one.
    assert violated(target) == []

    # Without transactions each statement commits by itself: updates are lost.
    statement = "SET @nothing = 1" if target.name == "mysql" else "SELECT 1"

    def begin(_level: str, _writes: bool) -> tuple[str, ...]:
        return (statement,)

    none = Isolation(("none",), "none", begin)
    assert {1, 5, 6, 7, 8, 9} <= failed(played(target, "none", none))

"""Several brokerages in one server: each has its own exchange, and all are whole."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.bundle.reader import Bundle
from tests.mariadb import require_mariadb
from tests.process import dyno, spoilt
from tests.targets.conftest import LIMITS

LOADED = 5_760
"""Trades of 100 customers on a day."""


@pytest.fixture(params=["postgresql", pytest.param("mysql", marks=pytest.mark.long)])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "mysql":
        require_mariadb()
    return str(request.param)


def conducted(out: Path, engine: str, verb: str, *more: str) -> tuple[dict[str, Any], Bundle]:
    args = (verb, "brokerage", "--target", f"embedded:{engine}", "--databases", "2", *more)
    done = dyno(*args, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)
    codes = spoilt(found)
    noise = {"unsteady", "client-bound", "misaligned-windows", "other-mix"}
    assert codes <= noise, found["reasons"]
    return found, Bundle.open(Path(found["bundle"]))


def trades(out: Path, engine: str, place: str) -> tuple[int, int]:
    """New trades in a database, completed and in all."""
    target = targets.open_target(targets.parse(f"embedded:{engine}"), out, LIMITS)
    query = (
        "SELECT SUM(CASE WHEN t_st_id = 'CMPT' THEN 1 ELSE 0 END), COUNT(*) "
        f"FROM {place}.trade WHERE t_id > {LOADED}"
    )
    with target, closing(target.connect()) as session:
        done, ordered = session.execute(query).rows[0]
    return int(done), int(ordered)


@pytest.mark.long
def test_each_has_its_own_exchange(out: Path, engine: str) -> None:
    conducted(out, engine, "load", "--scale", "0.1", "--days", "1")
    found, bundle = conducted(
        out, engine, "run", "--users", "2", "--warmup", "2s", "--duration", "4s"
    )
    total, *parts = found["workloads"]["brokerage"]["levels"]
    assert [part["level"] for part in parts] == ["users-2-db-1", "users-2-db-2"]
    assert (total["users"], total["databases"]) == (4, 2)
    results = {
        level: sum(
            row["done"]
            for row in bundle.table(f"ops/{level}").to_pylist()
            if row["op"] == "trade_result"
        )
        for level in ("users-2", "users-2-db-1", "users-2-db-2")
    }
    places = ("dyno_brokerage", "dyno_brokerage_2")
    for place, part in zip(places, parts, strict=True):
        done, ordered = trades(out, engine, place)
        # Each result is recorded where its order is. The last ones may end after the window.
        assert 0 < results[part["level"]] <= done < ordered
    assert results["users-2"] == sum(results[part["level"]] for part in parts)
    checks = {check.name: check.passed for check in bundle.checks()}
    for number in range(1, 12):
        assert checks[f"condition {number}"] is True
        assert checks[f"condition {number} of database 2"] is True

    level = ("--isolation", "--level", "repeatable-read")
    _, bundle = conducted(out, engine, "check", *level)
    checks = {check.name: check.passed for check in bundle.checks()}
    for number in range(1, 10):
        assert checks[f"isolation {number}"] is True
        assert checks[f"isolation {number} of database 2"] is True
    assert checks["condition 10 of database 2"] is True

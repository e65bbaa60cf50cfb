"""Isolation scenarios write times in UTC, as loaded data has them, on any server clock."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dyno.contracts.target import Connection
from dyno.workloads.brokerage.isolation import transactions as brokerage
from dyno.workloads.tpcc.isolation import transactions as tpcc


class Recorder:
    """Keeps the statements; each answers with one row."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def execute(self, sql: str) -> Any:
        self.statements.append(sql)
        return SimpleNamespace(rows=[(7,)])


@pytest.fixture
def statements() -> list[str]:
    recorder = Recorder()
    session = cast("Connection", recorder)
    number = brokerage.trade_order(session, limit=True)
    brokerage.trade_result(session, number)
    brokerage.market_feed(session)
    place = tpcc.CustomerKey(1, 1, 1)
    tpcc.delivery(session, place, tpcc.new_order(session, place))
    tpcc.payment(session, place, "1")
    return recorder.statements


@pytest.fixture(autouse=True)
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


def test_times_are_the_clients_in_utc(statements: list[str]) -> None:
    text = "\n".join(statements)
    assert "CURRENT_TIMESTAMP" not in text
    times = re.findall(r"'(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6})'", text)
    # Order, result, price, submission; order, payment, delivery.
    assert len(times) == 7
    now = datetime.now(UTC)
    for one in times:
        moment = datetime.fromisoformat(one).replace(tzinfo=UTC)
        assert abs(now - moment) < timedelta(minutes=5), one

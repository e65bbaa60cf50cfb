"""How often the process list is read, and what the readings count for."""

from __future__ import annotations

import random
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside import sessions
from dyno.targets.mysql.inside.shown import Shown
from dyno.targets.mysql.inside.statements import ALIAS, OBSERVER, Counted, between

OWN = 1
RUNS = (7, "u", "h", "db", "Execute", 0, "Sending data")
COMMITS = (8, "u", "h", "db", "Execute", 0, "Commit")


class Server:
    """Shows the sessions of the current period."""

    number = OWN

    def __init__(self) -> None:
        self.listed: list[tuple[Any, ...]] = []
        self.read: list[int] = []
        self.period = 0

    def execute(self, sql: str) -> SimpleNamespace:
        if sql == sessions._LIST:
            self.read.append(self.period)
            return SimpleNamespace(rows=self.listed)
        assert sql == sessions._LOCKS
        return SimpleNamespace(rows=[("Innodb_row_lock_current_waits", "0")])


def test_statements_of_an_observer_begin_with_its_mark() -> None:
    sent: list[str] = []
    cursor = SimpleNamespace(execute=sent.append, description=(), fetchall=list)
    raw = SimpleNamespace(
        cursor=lambda: nullcontext(cursor), thread_id=lambda: 1,
        get_server_info=lambda: "11.4.2-MariaDB",
    )  # fmt: skip
    for begins in ("", OBSERVER):
        found = MysqlConnection(raw, None, lambda: None, begins)  # type: ignore[arg-type]
        found.execute("SELECT 1")
    assert sent == ["SELECT 1", "/* dyno observer */ SELECT 1"]


def test_dynos_statements_are_not_among_those_counted() -> None:
    texts = (f"SELECT UNIX_TIMESTAMP ( SYSDATE (?) ) AS `{ALIAS}`", "SELECT `id` FROM `item`")
    after = {("shop", text): Counted(text, 1, 1, 1, 1, 1) for text in texts}
    (only,) = between({}, after)
    assert (only.text, only.database) == (texts[1], "shop")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    shown = SimpleNamespace(waits=False)
    monkeypatch.setattr(Shown, "read", classmethod(lambda *_: shown))
    return Server()


def seconds(server: Server, *periods: list[tuple[Any, ...]]) -> list[dict[str, float]]:
    """The samples of periods in which the server has these sessions."""
    ask = sessions.reader("mysql")
    made: list[dict[str, float]] = []
    for server.period, server.listed in enumerate(periods):
        found = ask(server, 0)  # type: ignore[arg-type]
        if found:
            made.append({sample.metric: sample.value for sample in found})
    return made


def test_while_no_session_waits_the_list_is_read_twice_a_second(server: Server) -> None:
    made = seconds(server, *[[RUNS]] * 20)
    assert server.read == [0, 5, 10, 15]
    assert [list(sample.values()) for sample in made] == [[1.0], [1.0]]


def test_while_one_waits_it_is_read_ten_times(server: Server) -> None:
    made = seconds(server, *[[RUNS, COMMITS]] * 10)
    assert server.read == list(range(10))
    assert sorted(made[0].values()) == [1.0, 1.0]


def test_periods_without_a_reading_count_half_for_either_side(server: Server) -> None:
    # Wherever the wait begins, the four periods before the reading that finds it count as two.
    made = seconds(server, *[[RUNS]] * 5, *[[RUNS, COMMITS]] * 5)
    assert server.read == [0, *range(5, 10)]
    (waiting,) = (value for name, value in made[0].items() if "ommit" in name)
    assert waiting == pytest.approx(0.7)
    (running,) = (value for name, value in made[0].items() if "ommit" not in name)
    assert running == pytest.approx(1.0)


def test_waits_that_come_and_go_have_their_true_mean(server: Server) -> None:
    chance = random.Random(1)
    waiting = [False]
    while len(waiting) < 20_000:
        waiting += [not waiting[-1]] * chance.randint(1, 40)
    made = seconds(server, *([RUNS, COMMITS] if one else [RUNS] for one in waiting))
    found = sum(value for sample in made for name, value in sample.items() if "ommit" in name)
    assert found / len(made) == pytest.approx(sum(waiting) / len(waiting), rel=0.03)

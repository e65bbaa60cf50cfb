"""The ticks of an agent on the clock of a run, with clocks and an agent of the test's own."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import pytest

from dyno import __version__
from dyno.agent import protocol
from dyno.agent.clocks import Offset, better, measure
from dyno.agent.follow import CLOCK_EVERY_S, Follower
from dyno.bundle.model import Clock
from dyno.errors import TargetError

SECOND = 1_000_000_000
HERE = 50 * SECOND
THERE = 7_000 * SECOND
EPOCH = 1_700_000_000 * SECOND


class Kept:
    """A recorder that keeps what it is given."""

    def __init__(self) -> None:
        self.clock = Clock(unix_ns=EPOCH, monotonic_ns=HERE)
        self.rows: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def add(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        assert table == "samples"
        self.rows += rows

    def event(self, name: str, **fields: Any) -> None:
        self.events.append({"event": name, **fields})

    def values(self, source: str, subject: str, metric: str) -> list[tuple[float, float]]:
        """Seconds since the start of the run, and values."""
        wanted = (source, subject, metric)
        return [
            ((row["t_ns"] - EPOCH) / SECOND, row["value"])
            for row in self.rows
            if (row["source"], row["subject"], row["metric"]) == wanted
        ]

    def named(self, event: str) -> list[dict[str, Any]]:
        return [one for one in self.events if one["event"] == event]


class World:
    """Two machines under one clock that the follower's waits move, and an agent between them.

    ``script`` says what happens before each second of the run; the run ends after it.
    """

    def __init__(self, *script: str, keep: int = 600, wall_s: float = 300.0) -> None:
        self.script = list(script)
        self.keep, self.wall_ns = keep, EPOCH - HERE + round(wall_s * SECOND)
        self.passed_ns = 0
        self.instance, self.ticks = "one", 0
        self.entries_: list[protocol.Entry] = []
        self.reachable = True
        self.recorder = Kept()
        self.ended = threading.Event()

    def clock(self) -> int:
        return HERE + self.passed_ns

    def wait(self, seconds: float) -> bool:
        if not self.script:
            self.ended.set()
            return True
        for word in self.script.pop(0).split():
            match word.split(":"):
                case ["cut"]:
                    self.reachable = False
                case ["heal"]:
                    self.reachable = True
                case ["restart"]:
                    self.instance, self.ticks, self.entries_ = "two", 0, []
                case ["step", by]:
                    self.wall_ns += round(float(by) * SECOND)
                case ["stall"]:  # the agent loses this tick
                    self.ticks -= 1
                case ["later", by]:
                    self.passed_ns += round(float(by) * SECOND)
        self.passed_ns += round(seconds * SECOND)
        self.ticks += 1
        sample = ("cpu", "host", "busy", float(self.ticks), "%")
        number = self.entries_[-1].number + 1 if self.entries_ else 1
        self.entries_.append(
            protocol.Entry(
                number=number,
                tick=number,
                t_ns=THERE + self.passed_ns,
                samples=[sample],
            )
        )
        del self.entries_[: -self.keep]
        return False

    def _reach(self) -> None:
        if not self.reachable:
            raise TargetError("timed out.")

    def hello(self) -> protocol.Hello:
        self._reach()
        return protocol.Hello(
            protocol=protocol.VERSION, dyno=__version__, instance=self.instance, machine="db1",
            interval_s=1.0, last=self.entries_[-1].number if self.entries_ else 0,
            lacks={"pressure": "no PSI"},
        )  # fmt: skip

    def clocks(self) -> protocol.Clocks:
        self._reach()
        there = THERE + self.passed_ns
        return protocol.Clocks(monotonic_ns=there, unix_ns=self.wall_ns + HERE + self.passed_ns)

    def entries(self, instance: str, after: int) -> list[protocol.Entry]:
        self._reach()
        if instance != self.instance:
            raise TargetError("restarted.")
        return [one for one in self.entries_ if one.number > after]

    def follow(self, server: bool | None = None) -> Kept:
        follower = Follower(self, "db1", self.recorder, lambda: server, self.clock, self.wait)
        assert self.ended.wait(60)
        follower.close()
        return self.recorder


def seconds(kept: Kept) -> list[float]:
    return [at for at, _ in kept.values("cpu@db1", "host", "busy")]


def test_samples_are_on_the_clock_of_the_run() -> None:
    kept = World("", "", "").follow()
    assert kept.values("cpu@db1", "host", "busy") == [(1, 1), (2, 2), (3, 3)]
    assert kept.values("clock", "db1", "offset") == [(0, 300.0)]
    assert kept.values("clock", "db1", "drift") == [(0, 0.0)]
    assert kept.named("probe-unavailable") == [
        {"event": "probe-unavailable", "machine": "db1", "probe": "pressure", "reason": "no PSI"}
    ]
    assert kept.values("dyno@db1", "agent", "missed_ticks") == []


def test_nothing_is_lost_or_doubled_by_a_cut() -> None:
    kept = World("", "cut", *[""] * 30, "heal", "", "").follow()
    assert seconds(kept) == list(range(1, 36))
    (lost,) = kept.named("agent-lost")
    assert "timed out" in lost["reason"]
    assert len(kept.named("agent-back")) == 1
    assert kept.values("dyno@db1", "agent", "missed_ticks") == []


def test_what_the_agent_no_longer_has_is_counted() -> None:
    kept = World("", "cut", *[""] * 8, "heal", "", keep=5).follow()
    # Ticks 2 to 6 are gone when the agent is asked after tick 11.
    assert seconds(kept) == [1, 7, 8, 9, 10, 11, 12]
    assert kept.values("dyno@db1", "agent", "missed_ticks") == [(7, 5)]


def test_what_is_missing_at_the_end_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World("", "", "cut", "", "")

    def pause(given_s: float) -> None:
        world.passed_ns += round(given_s * SECOND)

    monkeypatch.setattr("dyno.agent.follow.time.sleep", pause)
    kept = world.follow()
    assert seconds(kept) == [1, 2]
    assert kept.values("dyno@db1", "agent", "missed_ticks") == [(5, 3)]


def test_a_restarted_agent_begins_anew() -> None:
    kept = World("", "", "cut", "", "restart heal", "").follow()
    assert seconds(kept) == [1, 2, 5, 6]
    assert kept.values("dyno@db1", "agent", "missed_ticks") == [(5, 2)]
    assert kept.named("agent-restarted") == [{"event": "agent-restarted", "machine": "db1"}]


def test_an_agent_that_restarts_between_two_requests_loses_no_tick_uncounted() -> None:
    kept = World(*[""] * 20, "restart", "", "").follow()
    assert seconds(kept) == list(range(1, 24))
    assert len(kept.named("agent-restarted")) == 1


@pytest.mark.parametrize("found", [True, False])
def test_it_is_told_whether_a_restarted_agent_finds_the_server(found: bool) -> None:
    kept = World("", "restart", "").follow(found)
    assert [one["server"] for one in kept.named("agent-restarted")] == [found]


def test_a_step_of_its_wall_clock_is_noticed_and_moves_no_sample() -> None:
    world = World("", "step:-300", *[""] * round(CLOCK_EVERY_S), "")
    kept = world.follow()
    assert seconds(kept) == list(range(1, len(seconds(kept)) + 1))
    (step,) = kept.named("clock-stepped")
    assert step["seconds"] == pytest.approx(-300)
    assert [value for _, value in kept.values("clock", "db1", "offset")] == [300.0, 0.0]


def test_the_shortest_round_trip_counts() -> None:
    times = iter([0, 100, 200, 210, 300, 500])
    theirs = iter([1050, 1205, 1480])

    def ask() -> protocol.Clocks:
        return protocol.Clocks(monotonic_ns=next(theirs), unix_ns=0)

    found = measure(ask, lambda: next(times), rounds=3)
    assert (found.theirs_ns, found.bound_ns) == (1000, 5)


def test_a_congested_measurement_does_not_replace_a_good_one() -> None:
    good = Offset(0, 10, 1_000, 0)
    soon, late = 10 * SECOND, 1_000 * SECOND
    assert better(good, Offset(soon, 99, 50 * 1_000_000, 0)) is good
    assert better(good, Offset(late, 99, 50 * 1_000_000, 0)).theirs_ns == 99

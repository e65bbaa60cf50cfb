"""A target's probe in a thread of its own: it may hang, fail, come late and leave early."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from dyno.contracts.probe import Sample, UnavailableError
from dyno.errors import TargetError
from dyno.stages.observe import Sampler
from dyno.stages.observe.joined import Joined
from tests.observe.test_sampler import EPOCH, SECOND, FakeProbe, FakeRecorder, Time
from tests.process import wait_until


class Own:
    """A target's probe; ``act`` is called with the number of the reading, from 0."""

    def __init__(
        self,
        act: Callable[[int], None] = lambda _reading: None,
        name: str = "own",
        period_s: float = 1.0,
        deadline_s: float = 0.5,
    ) -> None:
        self.name, self.period_s, self.deadline_s = name, period_s, deadline_s
        self.act = act
        self.readings = 0
        self.closed = threading.Event()

    def read(self, now_ns: int) -> list[Sample]:
        self.readings += 1
        self.act(self.readings - 1)
        return [Sample(self.name, "server", "reading", float(self.readings), "count")]

    def close(self) -> None:
        self.closed.set()


def run(probe: Own, time: Time) -> FakeRecorder:
    """Reads a probe to the end of the clock's steps."""
    recorder = FakeRecorder()
    sampler = Sampler(recorder, [])
    joined = Joined(probe, sampler._record, sampler._report, time.clock, time.wait)
    assert time.ended.wait(300)
    joined.leave()
    assert probe.closed.is_set()
    return recorder


def of(recorder: FakeRecorder, metric: str, name: str = "own") -> list[tuple[float, float]]:
    """Seconds since the start, and values."""
    return [
        ((row["t_ns"] - EPOCH) / SECOND, row["value"])
        for row in recorder.rows
        if row["metric"] == metric and name in (row["source"], row["subject"])
    ]


def events(recorder: FakeRecorder) -> list[str]:
    return [name for name, _ in recorder.events]


def test_readings_lie_on_a_grid_of_their_own() -> None:
    recorder = run(Own(period_s=2.5), Time(0, 0.25, 0))
    assert of(recorder, "reading") == [(2.5, 1), (5.25, 2), (7.5, 3)]
    assert of(recorder, "missed_periods") == [(2.5, 0), (5.25, 0), (7.5, 0)]
    assert recorder.events == []


def test_periods_that_a_slow_machine_missed_are_counted_and_not_filled_in() -> None:
    recorder = run(Own(), Time(0, 3.5, 0))
    assert of(recorder, "reading") == [(1, 1), (5.5, 2), (6, 3)]
    assert of(recorder, "missed_periods") == [(1, 0), (5.5, 3), (6, 0)]


def test_a_reading_beyond_its_deadline_is_missed() -> None:
    time = Time(0, 0, 0)
    recorder = run(Own(lambda reading: time.pass_by(2.2 if reading == 1 else 0)), time)
    assert of(recorder, "reading") == [(1, 1), (5, 3)]
    assert of(recorder, "missed_periods") == [(1, 0), (5, 3)]
    assert recorder.events == [("probe-late", {"probe": "own", "reason": "a reading took 2.2 s"})]


def test_a_refusal_is_retried_and_reported_once() -> None:
    def refuse(reading: int) -> None:
        if reading in (1, 2, 4):
            raise TargetError("no session left", kind="too_many_connections")

    recorder = run(Own(refuse), Time(0, 0, 0, 0, 0))
    assert of(recorder, "reading") == [(1, 1), (4, 4)]
    # Readings missed at the end are counted at the end only.
    assert of(recorder, "missed_periods") == [(1, 0), (4, 2), (5, 1)]
    detail = {"probe": "own", "reason": "no session left"}
    assert recorder.events == [("probe-refused", detail)]


@pytest.mark.parametrize(
    ("fault", "event"),
    [
        (ZeroDivisionError("a fault"), "probe-failed"),
        (UnavailableError("none"), "probe-unavailable"),
    ],
)
def test_one_that_fails_is_read_no_more(fault: Exception, event: str) -> None:
    def fail(reading: int) -> None:
        if reading == 1:
            raise fault

    probe = Own(fail, period_s=0.01)
    recorder, other = FakeRecorder(), Own(name="other", period_s=0.01)
    with Sampler(recorder, []) as sampler, sampler.joined([probe, other]):
        assert probe.closed.wait(300)
        before = other.readings
        wait_until(lambda: other.readings > before + 1, "the other probe")
    assert probe.readings == 2
    assert events(recorder) == [event]
    assert len(of(recorder, "reading")) == 1


def test_one_that_hangs_stops_no_other_and_nobody_waits_beyond_its_deadline() -> None:
    answered = threading.Event()
    hanging = Own(lambda reading: reading == 1 and answered.wait(300), "own", 0.01, 0.05)
    hanging_too = Own(lambda _reading: answered.wait(300), "too", 0.01, 0.05)
    other, host, recorder = Own(name="other", period_s=0.01), FakeProbe("host"), FakeRecorder()
    try:
        with Sampler(recorder, [host], 0.01) as sampler:
            with sampler.joined([hanging, hanging_too, other]):
                wait_until(lambda: hanging.readings == 2 and hanging_too.readings == 1, "a hang")
                before, ticks = other.readings, len(host.times)
                wait_until(lambda: other.readings > before + 3, "the other probe")
                wait_until(lambda: len(host.times) > ticks + 3, "the sampler")
            # They were left while both still hang: this line would not be reached otherwise.
            assert not hanging.closed.is_set()
            assert not hanging_too.closed.is_set()
        assert len(of(recorder, "reading")) == 1
        (*_, (_, missed)) = of(recorder, "missed_periods")
        assert missed >= 3
        assert sum(value for _, value in of(recorder, "missed_periods", "too")) >= 3
        written = len(recorder.rows), len(recorder.events)
    finally:
        answered.set()
    # What comes after the end is not written: the bundle may be closed by then.
    assert hanging.closed.wait(300)
    assert hanging_too.closed.wait(300)
    assert (len(recorder.rows), len(recorder.events)) == written


def test_the_end_of_the_sampler_ends_what_is_still_joined() -> None:
    probe = Own(period_s=3600)
    sampler = Sampler(FakeRecorder(), [])
    with sampler:
        joining = sampler.joined([probe])
        joining.__enter__()
        assert not probe.closed.is_set()
    assert probe.closed.is_set()
    joining.__exit__(None, None, None)  # it has left already


def test_one_joins_late_and_leaves_early() -> None:
    recorder, host = FakeRecorder(), FakeProbe("host")
    with Sampler(recorder, [host], 0.01) as sampler:
        wait_until(lambda: len(host.times) > 3, "the sampler")
        for _ in range(2):
            probe = Own(period_s=0.01)
            with sampler.joined([probe]):
                wait_until(lambda: probe.readings > 2, "the probe")  # noqa: B023
            assert probe.closed.is_set()
            left, ticks = probe.readings, len(host.times)
            wait_until(lambda: len(host.times) > ticks + 3, "the sampler")  # noqa: B023
            assert probe.readings == left
    names = {thread.name for thread in threading.enumerate()}
    assert not any(name.startswith("dyno-probe-") for name in names)


def test_a_block_that_fails_leaves_too() -> None:
    probe: Any = Own(period_s=3600)
    with (
        pytest.raises(ZeroDivisionError),
        Sampler(FakeRecorder(), []) as sampler,
        sampler.joined([probe]),
    ):
        raise ZeroDivisionError
    assert probe.closed.is_set()

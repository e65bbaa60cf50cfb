"""The sampler under a clock and a waiter of the test's own: no real time passes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dyno.bundle.model import Clock
from dyno.bundle.tables import read_table
from dyno.bundle.writer import Recorder
from dyno.contracts.probe import Sample, UnavailableError
from dyno.errors import DiskFullError
from dyno.stages.observe import Sampler, names
from dyno.stages.observe.base import Probe

SECOND = 1_000_000_000
START = 50 * SECOND
EPOCH = 1_700_000_000 * SECOND


class FakeRecorder:
    """Keeps what it is given; full from write ``full_from`` until ``full_to``."""

    def __init__(self, full: range = range(0)) -> None:
        self.clock = Clock(unix_ns=EPOCH, monotonic_ns=START)
        self.rows: list[dict[str, Any]] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.full = full
        self.writes = 0

    def add(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        assert table == "samples"
        self._write()
        self.rows += rows

    def event(self, name: str, **fields: Any) -> None:
        self._write()
        self.events.append((name, fields))

    def _write(self) -> None:
        self.writes += 1
        if self.writes - 1 in self.full:
            raise DiskFullError("No space left.")


class Time:
    """A clock that only its waiter moves.

    Each step is what happens in one wait: seconds by which the wait is overslept.
    """

    def __init__(self, *oversleeps: float) -> None:
        self.now_ns = START
        self.waits: list[float] = []
        self.ended = threading.Event()
        self._oversleeps = list(oversleeps)

    def clock(self) -> int:
        return self.now_ns

    def wait(self, seconds: float) -> bool:
        if not self._oversleeps:
            self.ended.set()
            return True
        self.waits.append(seconds)
        self.pass_by(seconds + self._oversleeps.pop(0))
        return False

    def pass_by(self, seconds: float) -> None:
        self.now_ns += round(seconds * SECOND)


class FakeProbe:
    """Says when it was read; ``act`` is called with the number of the reading."""

    def __init__(self, name: str, act: Callable[[int], None] = lambda _reading: None) -> None:
        self.name = name
        self.act = act
        self.times: list[int] = []
        self.watched: list[tuple[int, ...]] = []

    def read(self, now_ns: int) -> list[Sample]:
        self.times.append(now_ns)
        self.act(len(self.times) - 1)
        return [Sample(self.name, "host", "reading", float(len(self.times)), "count")]

    def watch(self, pids: Iterable[int]) -> None:
        self.watched.append(tuple(pids))


def sample(recorder: FakeRecorder, clock: Time, *probes: Probe, interval_s: float = 1.0) -> None:
    """Runs a sampler to the end of the clock's steps."""
    with Sampler(recorder, probes, interval_s, clock=clock.clock, wait=clock.wait):
        assert clock.ended.wait(300)


def missed(recorder: FakeRecorder) -> list[float]:
    return [row["value"] for row in recorder.rows if row["metric"] == "missed_ticks"]


def seconds_of(recorder: FakeRecorder, source: str) -> list[float]:
    rows = [row for row in recorder.rows if row["source"] == source]
    return [(row["t_ns"] - EPOCH) / SECOND for row in rows]


def test_ticks_lie_on_the_grid_on_the_recorders_clock() -> None:
    recorder, clock, probe = FakeRecorder(), Time(0, 0, 0), FakeProbe("a")
    sample(recorder, clock, probe)
    assert seconds_of(recorder, "a") == [0, 1, 2, 3]
    assert clock.waits == [1.0, 1.0, 1.0]
    assert missed(recorder) == [0, 0, 0]
    assert recorder.rows[0] == {
        "t_ns": EPOCH,
        "source": "a",
        "subject": "host",
        "metric": "reading",
        "value": 1.0,
        "unit": "count",
    }
    assert recorder.events == []


def test_late_wake_ups_do_not_add_up() -> None:
    recorder, clock = FakeRecorder(), Time(0.25, 0.25, 0.25, 0)
    sample(recorder, clock, FakeProbe("a"))
    assert seconds_of(recorder, "a") == [0, 1.25, 2.25, 3.25, 4]
    assert clock.waits == [1.0, 0.75, 0.75, 0.75]
    assert missed(recorder) == [0, 0, 0, 0]


def test_an_early_wake_up_is_not_taken_for_a_tick_of_its_own() -> None:
    recorder, clock = FakeRecorder(), Time(-0.001, 0)
    sample(recorder, clock, FakeProbe("a"))
    assert seconds_of(recorder, "a") == [0, 0.999, 2]
    assert missed(recorder) == [0, 0]


def test_a_machine_that_stood_still_misses_ticks() -> None:
    recorder, clock = FakeRecorder(), Time(0, 3.5, 0)
    sample(recorder, clock, FakeProbe("a"))
    assert seconds_of(recorder, "a") == [0, 1, 5.5, 6]
    assert missed(recorder) == [0, 3, 0]


def test_a_slow_reading_misses_ticks_and_comes_back_to_the_grid() -> None:
    clock = Time(0, 0)
    probe = FakeProbe("a", lambda reading: clock.pass_by(2.4 if reading == 1 else 0))
    recorder = FakeRecorder()
    sample(recorder, clock, probe)
    assert seconds_of(recorder, "a") == [0, 1, 4]
    assert missed(recorder) == [0, 2]


def test_the_interval_can_be_chosen() -> None:
    recorder, clock = FakeRecorder(), Time(0, 0)
    sample(recorder, clock, FakeProbe("a"), interval_s=0.1)
    assert seconds_of(recorder, "a") == [0, 0.1, 0.2]


def test_all_samples_of_a_tick_share_its_time_but_probes_get_their_own() -> None:
    clock = Time(0)
    slow = FakeProbe("slow", lambda _reading: clock.pass_by(0.05))
    quick = FakeProbe("quick")
    recorder = FakeRecorder()
    sample(recorder, clock, slow, quick)
    assert seconds_of(recorder, "slow") == seconds_of(recorder, "quick") == [0, 1]
    assert quick.times == [START + SECOND // 20, START + SECOND + SECOND // 20]


def test_a_probe_without_its_source_is_reported_once() -> None:
    def lack(_reading: int) -> None:
        raise UnavailableError("/proc/pressure/cpu cannot be read")

    recorder, lacking, other = FakeRecorder(), FakeProbe("pressure", lack), FakeProbe("b")
    sample(recorder, Time(0, 0), lacking, other)
    reason = "/proc/pressure/cpu cannot be read"
    assert recorder.events == [("probe-unavailable", {"probe": "pressure", "reason": reason})]
    assert len(lacking.times) == 1
    assert len(other.times) == 3


def test_a_probe_that_fails_is_dropped_and_the_others_go_on() -> None:
    def fail(reading: int) -> None:
        if reading == 2:
            raise ZeroDivisionError("division by zero")

    recorder, failing, other = FakeRecorder(), FakeProbe("a", fail), FakeProbe("b")
    sample(recorder, Time(0, 0, 0, 0), failing, other)
    reason = "ZeroDivisionError: division by zero"
    assert recorder.events == [("probe-failed", {"probe": "a", "reason": reason})]
    assert seconds_of(recorder, "a") == [0, 1]
    assert seconds_of(recorder, "b") == [0, 1, 2, 3, 4]


def test_a_full_disk_does_not_end_sampling() -> None:
    # Writes: the first reading, tick 1, then tick 2 and its event, tick 3, its event, tick 4.
    recorder, clock, warnings = FakeRecorder(full=range(2, 5)), Time(0, 0, 0, 0), list[str]()
    with Sampler(
        recorder, [FakeProbe("a")], warn=warnings.append, clock=clock.clock, wait=clock.wait
    ):
        assert clock.ended.wait(300)
    assert seconds_of(recorder, "a") == [0, 1, 4]
    detail = {"kind": "disk_full", "reason": "No space left."}
    assert recorder.events == [("sampling-failed", detail)]
    (warning,) = warnings
    assert "No space left." in warning


def test_watched_processes_reach_the_probes_that_read_them() -> None:
    class Deaf:
        name = "deaf"

        def read(self, now_ns: int) -> list[Sample]:
            return []

    probe = FakeProbe("a")
    with Sampler(FakeRecorder(), [probe, Deaf()]) as sampler:
        sampler.watch(iter([7, 8]))
        sampler.watch([])
    assert probe.watched == [(7, 8), ()]


def test_every_probe_is_read_by_default_and_leaving_ends_the_thread_at_once(
    tmp_path: Path,
) -> None:
    recorder = Recorder(tmp_path, "run", {}, ())
    # The next tick is an hour away: a thread that waited for it would be there still.
    with Sampler(recorder, interval_s=3600) as sampler:
        sampler.watch([1])
    assert not any(thread.name == "dyno-sampler" for thread in threading.enumerate())
    recorder.finish("done")
    journal = (recorder.path / "events.jsonl").read_text(encoding="utf-8")
    recorder.close()
    rows = read_table(recorder.path, "samples").to_pylist()
    lacking = [name for name in names() if f'"probe": "{name}"' in journal]
    assert "process" in {row["source"] for row in rows}
    assert "memory" in {row["source"] for row in rows} | set(lacking)


def test_on_the_real_clock_no_tick_comes_before_its_place_on_the_grid(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "run", {}, ())
    enough = threading.Event()
    probe = FakeProbe("a", lambda reading: enough.set() if reading >= 3 else None)
    with Sampler(recorder, [probe], 0.02):
        assert enough.wait(300)
    recorder.finish("done")
    recorder.close()
    table = read_table(recorder.path, "samples").to_pylist()
    times = [row["t_ns"] for row in table if row["source"] == "a"]
    lost = [row["value"] for row in table if row["metric"] == "missed_ticks"]
    for index, t_ns in enumerate(times[1:], 1):
        due = (index + sum(lost[:index])) * 20_000_000
        assert t_ns - times[0] >= due - 1_000_000

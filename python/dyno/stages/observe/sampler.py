"""Reads all probes at a fixed interval and writes the samples to the bundle."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Protocol

from dyno.bundle.model import Clock
from dyno.contracts.probe import Sample, TargetProbe, UnavailableError
from dyno.errors import DynoError
from dyno.stages.observe.base import Meter, Probe, Watcher
from dyno.stages.observe.joined import Joined
from dyno.stages.observe.registry import open_probes

_JOIN_S = 5.0


class Recorder(Protocol):
    """The part of ``dyno.bundle.writer.Recorder`` that the sampler needs."""

    clock: Clock

    def add(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        """Appends rows to a table."""
        ...

    def event(self, name: str, **fields: Any) -> None:
        """Appends a line to the journal."""
        ...


class Sampler:
    """A context in which a thread samples. Exit it before the recorder finishes.

    Ticks are at multiples of the interval after the start, so the schedule does not drift. Missed
    ticks, because of a slow reading or a stalled machine, are counted, not repeated: each tick has
    a sample ``dyno``/``sampler``/``missed_ticks`` with the number missed since the previous one.
    All samples of a tick share its time ``t_ns``. Counter metrics cover the time since the previous
    tick.

    A probe that the machine lacks or that fails is disabled, and the journal records it once
    (``probe-unavailable``, ``probe-failed``). If samples cannot be written, the journal records
    that once (``sampling-failed``), the user is warned at once, and sampling continues: disk space
    may become available.

    Args:
        recorder: Receives samples and events.
        probes: The probes; all by default.
        interval_s: Length of a tick.
        warn: Receives a line for the user when samples are lost.
        clock: The monotonic clock in ns.
        wait: Waits that many seconds; returns True to end sampling. By default sampling ends with
            the context.
    """

    def __init__(
        self,
        recorder: Recorder,
        probes: Sequence[Probe] | None = None,
        interval_s: float = 1.0,
        *,
        warn: Callable[[str], None] = lambda _: None,
        clock: Callable[[], int] = time.monotonic_ns,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._recorder = recorder
        self._probes = open_probes() if probes is None else list(probes)
        self._watchers = [probe for probe in self._probes if isinstance(probe, Watcher)]
        self._interval_ns = round(interval_s * 1e9)
        self._clock = clock
        self._stop = threading.Event()
        self._wait = wait or self._stop.wait
        self._warn = warn
        self._write_failed = self._warned = False
        self._joined: list[Joined] = []
        self._thread = threading.Thread(target=self._run, name="dyno-sampler", daemon=True)

    @property
    def meter(self) -> Meter | None:
        """The probe that attributes the CPU time of a phase."""
        return next((probe for probe in self._probes if isinstance(probe, Meter)), None)

    def __enter__(self) -> Sampler:
        """Takes the first reading, the baseline of the counters, and starts the thread."""
        self._start_ns = self._clock()
        self._record(self._start_ns, self._read())
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends sampling immediately, or after the current readings."""
        self._stop.set()
        self._leave(list(self._joined))
        self._thread.join(_JOIN_S)

    @contextlib.contextmanager
    def joined(self, probes: Iterable[TargetProbe]) -> Generator[None]:
        """Adds probes of a target while the block is open, each in its own thread.

        See :class:`dyno.stages.observe.joined.Joined` for missed readings.
        """
        new: list[Joined] = []
        try:
            for probe in probes:
                new.append(Joined(probe, self._record, self._report, self._clock))
                self._joined.append(new[-1])
            yield
        finally:
            self._leave(new)

    def _leave(self, those: Sequence[Joined]) -> None:
        """Stops all concurrently: the total wait is that of the slowest."""
        for one in those:
            one.stop()
        for one in those:
            if one in self._joined:
                self._joined.remove(one)
                one.leave()

    def watch(self, pids: Iterable[int]) -> None:
        """Replaces the server processes that the probes read. Any thread may call this."""
        known = tuple(pids)
        for watcher in self._watchers:
            watcher.watch(known)

    def _run(self) -> None:
        last = 0
        while True:
            due = max(self._tick_at(self._clock()), last) + 1
            due_ns = self._start_ns + due * self._interval_ns
            if self._wait(max(due_ns - self._clock(), 0) / 1e9):
                return
            now_ns = self._clock()
            tick = max(self._tick_at(now_ns), due)
            missed = Sample("dyno", "sampler", "missed_ticks", float(tick - last - 1), "count")
            self._record(now_ns, [*self._read(), missed])
            last = tick

    def _tick_at(self, now_ns: int) -> int:
        """Returns the last tick at or before ``now_ns``."""
        return (now_ns - self._start_ns) // self._interval_ns

    def _read(self) -> list[Sample]:
        samples: list[Sample] = []
        for probe in tuple(self._probes):
            try:
                samples += probe.read(self._clock())
            except UnavailableError as error:
                self._drop(probe, "probe-unavailable", str(error))
            except Exception as error:  # a probe failure must not stop the other probes
                self._drop(probe, "probe-failed", f"{type(error).__name__}: {error}")
        return samples

    def _drop(self, probe: Probe, event: str, reason: str) -> None:
        self._probes.remove(probe)
        self._report(event, probe.name, reason)

    def _report(self, event: str, probe: str, reason: str) -> None:
        try:
            self._recorder.event(event, probe=probe, reason=reason)
        except DynoError as error:
            self._report_write_failure(error)

    def _record(self, now_ns: int, samples: Sequence[Sample]) -> None:
        anchor = self._recorder.clock
        t_ns = anchor.unix_ns + now_ns - anchor.monotonic_ns
        try:
            self._recorder.add("samples", [{"t_ns": t_ns, **s._asdict()} for s in samples])
        except DynoError as error:
            self._report_write_failure(error)

    def _report_write_failure(self, error: DynoError) -> None:
        if not self._warned:
            self._warned = True
            self._warn(f"! {error} Samples are lost until then.")
        if self._write_failed:
            return
        try:
            self._recorder.event("sampling-failed", kind=error.kind, reason=str(error))
            self._write_failed = True
        except DynoError:
            return  # the journal has no space either; the next success records it

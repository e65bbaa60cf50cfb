"""Reads all probes once a tick of a fixed grid and writes what they say to the bundle."""

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
    """The part of ``dyno.bundle.writer.Recorder`` that sampling needs."""

    clock: Clock

    def add(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        """Appends rows to a table."""
        ...

    def event(self, name: str, **fields: Any) -> None:
        """Appends a line to the journal."""
        ...


class Sampler:
    """A context in which a thread samples; leave it before the recorder finishes.

    Ticks lie at whole multiples of the interval after the start, so the schedule never drifts. A
    tick that cannot be kept, because a reading took too long or the machine stood still, is not
    made up for but counted: each tick has a sample ``dyno``/``sampler``/``missed_ticks``, the
    ticks missed since the one before. All samples of a tick share its time ``t_ns``; figures of
    counters concern the time since the tick before.

    A probe that the machine lacks or that fails is left out from then on, which the journal
    tells once (``probe-unavailable``, ``probe-failed``). If samples cannot be written, the
    journal tells that once, too (``sampling-failed``), and sampling goes on: room may come back.

    Args:
        recorder: Where samples and events go.
        probes: What to read; every probe there is by default.
        interval_s: Length of a tick.
        clock: The monotonic clock in ns.
        wait: Waits so many seconds and returns True if sampling is to end; by default it ends
            with the context.
    """

    def __init__(
        self,
        recorder: Recorder,
        probes: Sequence[Probe] | None = None,
        interval_s: float = 1.0,
        *,
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
        self._write_failed = False
        self._joined: list[Joined] = []
        self._thread = threading.Thread(target=self._run, name="dyno-sampler", daemon=True)

    @property
    def meter(self) -> Meter | None:
        """The probe that tells whose work the CPUs did in a phase."""
        return next((probe for probe in self._probes if isinstance(probe, Meter)), None)

    def __enter__(self) -> Sampler:
        """Takes the first reading, from which counters are counted, and starts the thread."""
        self._start_ns = self._clock()
        self._record(self._start_ns, self._read())
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends sampling at once, or with the readings under way."""
        self._stop.set()
        self._leave(list(self._joined))
        self._thread.join(_JOIN_S)

    @contextlib.contextmanager
    def joined(self, probes: Iterable[TargetProbe]) -> Generator[None]:
        """Has probes of a target read as well while the block is open, each in its own thread.

        See :class:`dyno.stages.observe.joined.Joined` for what becomes of readings that are missed.
        """
        new: list[Joined] = []
        try:
            for probe in probes:
                new.append(Joined(probe, self._record, self._tell, self._clock))
                self._joined.append(new[-1])
            yield
        finally:
            self._leave(new)

    def _leave(self, those: Sequence[Joined]) -> None:
        """Ends them all at once: the slowest is waited for, not one after another."""
        for one in those:
            one.stop()
        for one in those:
            if one in self._joined:
                self._joined.remove(one)
                one.leave()

    def watch(self, pids: Iterable[int]) -> None:
        """Replaces the server processes that probes read; may be called from any thread."""
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
        """The last tick at or before ``now_ns``."""
        return (now_ns - self._start_ns) // self._interval_ns

    def _read(self) -> list[Sample]:
        samples: list[Sample] = []
        for probe in tuple(self._probes):
            try:
                samples += probe.read(self._clock())
            except UnavailableError as error:
                self._drop(probe, "probe-unavailable", str(error))
            except Exception as error:  # whatever a probe does wrong, the others go on
                self._drop(probe, "probe-failed", f"{type(error).__name__}: {error}")
        return samples

    def _drop(self, probe: Probe, event: str, reason: str) -> None:
        self._probes.remove(probe)
        self._tell(event, probe.name, reason)

    def _tell(self, event: str, probe: str, reason: str) -> None:
        try:
            self._recorder.event(event, probe=probe, reason=reason)
        except DynoError as error:
            self._tell_write_failure(error)

    def _record(self, now_ns: int, samples: Sequence[Sample]) -> None:
        anchor = self._recorder.clock
        t_ns = anchor.unix_ns + now_ns - anchor.monotonic_ns
        try:
            self._recorder.add("samples", [{"t_ns": t_ns, **s._asdict()} for s in samples])
        except DynoError as error:
            self._tell_write_failure(error)

    def _tell_write_failure(self, error: DynoError) -> None:
        if self._write_failed:
            return
        try:
            self._recorder.event("sampling-failed", kind=error.kind, reason=str(error))
            self._write_failed = True
        except DynoError:
            return  # the journal has no room either; told once it has

"""Records the ticks of an agent in a run, on the run's clock."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from dyno.agent import clocks
from dyno.agent.client import AgentError
from dyno.agent.protocol import Clocks, Entry, Hello
from dyno.bundle.machines import at
from dyno.bundle.model import Clock
from dyno.contracts.probe import Sample
from dyno.errors import DynoError, TargetError

CLOCK_EVERY_S = 30.0
STEP_NS = 50_000_000
"""A wall clock that moved by more from its monotonic clock was set."""
_LAST_S = 10.0
"""Time to fetch the last ticks at the end of a run."""


class Recorder(Protocol):
    """The part of ``dyno.bundle.writer.Recorder`` that is needed."""

    clock: Clock

    def add(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        """Appends rows to a table."""
        ...

    def event(self, name: str, **fields: Any) -> None:
        """Appends a line to the journal."""
        ...


class Source(Protocol):
    """The part of ``dyno.agent.client.Client`` that is needed."""

    def hello(self) -> Hello:
        """The agent's introduction."""
        ...

    def clocks(self) -> Clocks:
        """Its clocks."""
        ...

    def entries(self, instance: str, after: int) -> list[Entry]:
        """The next entries of an instance."""
        ...


class Follower:
    """Fetches new entries once a tick, in a thread of its own.

    After an interruption it fetches what it missed, as far as the agent still has it: samples keep
    their times and order, and none is recorded twice. Lost ticks are counted in a sample
    ``dyno@<machine>``/``agent``/``missed_ticks`` at the next tick, or at the end. The clock offset
    is measured at the start, after each interruption and every 30 s: source ``clock``, subject the
    machine, metrics ``offset`` (its wall clock minus the run's), ``bound`` (the largest error of
    the samples' times) and ``drift`` (what its monotonic clock gained since the start), all in s.

    The journal records ``agent-lost`` with the reason, ``agent-back``, ``agent-restarted`` (and
    whether the server was found again, ``server``), ``clock-stepped`` and the events of the agent's
    own sampler.
    """

    def __init__(
        self,
        source: Source,
        machine: str,
        recorder: Recorder,
        find_server: Callable[[], bool | None] = lambda: None,
        clock: Callable[[], int] = time.monotonic_ns,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        """Starts with the next tick of the agent.

        Args:
            source: The agent.
            machine: Its name in the record.
            recorder: Receives samples and events.
            find_server: Makes a restarted agent sample the server again; returns whether it found
                it, None without one. Must not raise.
            clock: The monotonic clock in ns.
            wait: Waits that many seconds; returns True if the thread must end.

        Raises:
            TargetError: If the agent does not respond, or is of another version.
        """
        self._source, self._machine, self._recorder = source, machine, recorder
        self._find_server, self._clock = find_server, clock
        self._stop = threading.Event()
        self._wait = wait or self._stop.wait
        hello = source.hello()
        self._interval_s, self._instance = hello.interval_s, hello.instance
        self._number, self._last_ns = hello.last, clock()
        self._tick: int | None = None
        self._lost_ns: int | None = None
        self._dead = False
        self._offset = self._first = clocks.measure(source.clocks, clock)
        self._write_clock()
        for probe, reason in hello.lacks.items():
            self._event("probe-unavailable", probe=probe, reason=reason)
        self._thread = threading.Thread(target=self._run, name=f"dyno-agent-{machine}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Fetches the ticks until now and ends. Waits at most a few seconds for an agent."""
        end_ns = self._clock()
        self._stop.set()
        self._thread.join(_LAST_S)
        if self._thread.is_alive():
            return
        while not (whole := self._fetch()) and not self._dead:
            if (self._clock() - end_ns) / 1e9 >= _LAST_S:
                break
            time.sleep(0.2)
        missed = 0 if whole else self._ticks_until(end_ns)
        if missed > 0:
            self._add(end_ns, [self._missed(missed)])

    def _run(self) -> None:
        while not self._wait(self._interval_s):
            if self._dead or not self._fetch():
                continue
            if (self._clock() - self._offset.at_ns) / 1e9 >= CLOCK_EVERY_S:
                with contextlib.suppress(DynoError):
                    self._measure()

    def _fetch(self) -> bool:
        """Records new entries; False if the agent does not respond."""
        try:
            if self._lost_ns is not None:
                self._return()
            while True:
                entries = self._source.entries(self._instance, self._number)
                found = [one for one in entries if one.number > self._number]
                for entry in found:
                    self._record(entry)
                if not found:
                    return True
        except AgentError as error:
            # Another program, version or token: asking again does not help.
            self._dead = True
            self._event("agent-refused", reason=str(error))
            return False
        except TargetError as error:
            if self._lost_ns is None:
                self._lost_ns = self._clock()
                self._event("agent-lost", reason=str(error))
            return False

    def _return(self) -> None:
        """Resumes after an interruption.

        Raises:
            TargetError: If the agent is not back.
        """
        hello = self._source.hello()
        if hello.instance != self._instance:
            self._instance, self._number, self._tick = hello.instance, 0, None
            server = self._find_server()
            self._event("agent-restarted", **({} if server is None else {"server": server}))
            # Its old ticks are gone, and its machine may have restarted, too.
            self._offset = self._first = clocks.measure(self._source.clocks, self._clock)
            self._write_clock()
        else:
            self._measure()
        away_s = (self._clock() - (self._lost_ns or self._clock())) / 1e9
        self._lost_ns = None
        self._event("agent-back", seconds=round(away_s, 3))

    def _record(self, entry: Entry) -> None:
        self._number = entry.number
        own_ns = entry.t_ns - self._offset.theirs_ns
        if entry.event:
            fields = {key: value for key, value in entry.event.items() if key != "name"}
            self._event(entry.event.get("name", "agent-event")[:100], **fields)
            return
        first = self._tick is None  # of this instance
        lost = (self._ticks_until(own_ns) if first else entry.tick - (self._tick or 0)) - 1
        self._tick = entry.tick
        if own_ns <= self._last_ns and lost < 0:
            return  # a tick before the run, or before the restart
        # An offset that was measured anew never puts a tick before the previous one.
        self._last_ns = own_ns = max(own_ns, self._last_ns + 1)
        samples = [Sample(*one) for one in entry.samples]
        self._add(own_ns, [*samples, *([self._missed(lost)] if lost > 0 else [])])

    def _ticks_until(self, own_ns: int) -> int:
        """Ticks that should have come since the last one."""
        return int((own_ns - self._last_ns) / 1e9 / self._interval_s + 0.2)

    def _missed(self, count: int) -> Sample:
        return Sample("dyno", "agent", "missed_ticks", float(count), "count")

    def _measure(self) -> None:
        """Measures the offset again.

        Raises:
            TargetError: If the agent does not respond.
        """
        new = clocks.measure(self._source.clocks, self._clock)
        step_ns = new.wall_ns - self._offset.wall_ns
        if abs(step_ns) > STEP_NS:
            self._event("clock-stepped", seconds=step_ns / 1e9)
        kept = clocks.better(self._offset, new)
        bound_ns = round(kept.bound_at(new.at_ns))
        self._offset = clocks.Offset(new.at_ns, kept.theirs_ns, bound_ns, new.wall_ns)
        self._write_clock()

    def _write_clock(self) -> None:
        found, run = self._offset, self._recorder.clock
        wall_ns = found.wall_ns + found.theirs_ns + run.monotonic_ns - run.unix_ns
        values = {
            "offset": wall_ns,
            "bound": found.bound_ns,
            "drift": found.theirs_ns - self._first.theirs_ns,
        }
        rows = [Sample("clock", self._machine, name, ns / 1e9, "s") for name, ns in values.items()]
        self._write(found.at_ns, rows)

    def _add(self, own_ns: int, samples: Iterable[Sample]) -> None:
        self._write(own_ns, [one._replace(source=at(one.source, self._machine)) for one in samples])

    def _write(self, own_ns: int, samples: Iterable[Sample]) -> None:
        run = self._recorder.clock
        t_ns = run.unix_ns + own_ns - run.monotonic_ns
        # A full disk is reported by the run's own sampler.
        with contextlib.suppress(DynoError):
            self._recorder.add("samples", [{"t_ns": t_ns, **one._asdict()} for one in samples])

    def _event(self, name: str, **fields: Any) -> None:
        with contextlib.suppress(DynoError):
            self._recorder.event(name, machine=self._machine, **fields)

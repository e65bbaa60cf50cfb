"""A probe attached to a sampler, with its own thread, period and deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from dyno.contracts.probe import Sample, TargetProbe, UnavailableError
from dyno.errors import DynoError

Record = Callable[[int, Sequence[Sample]], None]
"""Writes samples with their time on the monotonic clock."""

Report = Callable[[str, str, str], None]
"""Writes an event, the name of a probe and a reason to the journal."""

MISSED = "missed_periods"


class Joined:
    """Reads one probe until it is detached.

    Readings are due at multiples of the period after the start. A reading is missed if it could not
    start in time, was refused, or exceeded the deadline. Missed readings are counted, not repeated:
    each written reading has a sample ``dyno``/<probe>/``missed_periods`` with the number missed
    since the previous one. The end has one too if readings were missed by then. A reading without
    samples is not missed, but not written: a probe may collect several readings for one sample.

    The journal records the first refusal (``probe-refused``) and the first late reading
    (``probe-late``). A probe without its source or with a fault is not read again
    (``probe-unavailable``, ``probe-failed``).
    """

    def __init__(
        self,
        probe: TargetProbe,
        record: Record,
        report: Report,
        clock: Callable[[], int],
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        """Starts the readings.

        Args:
            probe: The probe.
            record: Receives its samples.
            report: Receives its events.
            clock: The monotonic clock in ns.
            wait: Waits that many seconds; returns True if the probe must end.
        """
        self._probe, self._record, self._report, self._clock = probe, record, report, clock
        self._period_ns = round(probe.period_s * 1e9)
        self._stop = threading.Event()
        self._wait = wait or self._stop.wait
        self._lock = threading.Lock()
        self._left = False
        self._reported: set[str] = set()
        self._counted = 0  # up to this period, readings are read or counted as missed
        self._missing = 0  # missed readings that are not yet written
        self._began_ns: int | None = None  # start of the current reading
        self._start_ns = clock()
        self._end_ns: int | None = None
        self._thread = threading.Thread(target=self._run, name=f"dyno-probe-{probe.name}")
        self._thread.daemon = True
        self._thread.start()

    def stop(self) -> None:
        """Requests the end; :meth:`leave` waits for it."""
        with self._lock:
            if self._end_ns is None:
                self._end_ns = self._clock()
        self._stop.set()

    def leave(self) -> None:
        """Ends the readings. Waits for a current reading, at most until its deadline."""
        self.stop()
        began_ns = self._began_ns
        if began_ns is not None:
            left_s = self._probe.deadline_s - (self._clock() - began_ns) / 1e9
            self._thread.join(max(left_s, 0.0))
        else:
            self._thread.join(self._probe.deadline_s)
        with self._lock:
            self._left = True
            end_ns = self._start_ns if self._end_ns is None else self._end_ns
            missed = self._missing + self._period_at(end_ns) - self._counted
            if missed > 0:
                self._record(end_ns, [self._missed(missed)])

    def _run(self) -> None:
        last = 0
        try:
            while True:
                due = max(self._period_at(self._clock()), last) + 1
                due_ns = self._start_ns + due * self._period_ns
                if self._wait(max(due_ns - self._clock(), 0) / 1e9):
                    return
                now_ns = self._clock()
                last = max(self._period_at(now_ns), due)
                self._began_ns = now_ns
                try:
                    found = self._read(now_ns)
                finally:
                    self._began_ns = None
                if found is not None:
                    self._write(now_ns, last, found)
        except _EndedError:
            self._end()
        finally:
            self._probe.close()

    def _read(self, now_ns: int) -> Sequence[Sample] | None:
        """Returns a reading; None if it is missed.

        Raises:
            _EndedError: If there are no further readings.
        """
        try:
            found = self._probe.read(now_ns)
        except DynoError as error:
            self._say("probe-refused", str(error))
            return None
        except UnavailableError as error:
            self._say("probe-unavailable", str(error))
            raise _EndedError from error
        except Exception as error:  # a probe failure must not end the run
            self._say("probe-failed", f"{type(error).__name__}: {error}")
            raise _EndedError from error
        took_s = (self._clock() - now_ns) / 1e9
        if took_s > self._probe.deadline_s:
            self._say("probe-late", f"a reading took {took_s:.3g} s")
            return None
        return found

    def _write(self, now_ns: int, period: int, found: Sequence[Sample]) -> None:
        with self._lock:
            if not self._left:
                self._missing += period - self._counted - 1
                self._counted = period
                if found:
                    self._record(now_ns, [*found, self._missed(self._missing)])
                    self._missing = 0

    def _end(self) -> None:
        """Ends the schedule of readings."""
        with self._lock:
            if self._end_ns is None:
                self._end_ns = self._clock()

    def _say(self, event: str, reason: str) -> None:
        with self._lock:
            if event not in self._reported and not self._left:
                self._reported.add(event)
                self._report(event, self._probe.name, reason)

    def _missed(self, count: int) -> Sample:
        return Sample("dyno", self._probe.name, MISSED, float(count), "count")

    def _period_at(self, now_ns: int) -> int:
        """Returns the last period due at or before ``now_ns``."""
        return (now_ns - self._start_ns) // self._period_ns


class _EndedError(Exception):
    """The probe is not read again."""

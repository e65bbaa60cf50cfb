"""Keeps the progress of a run in its bundle, where the live page finds it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from dyno.bundle import progress
from dyno.bundle.progress import Progress
from dyno.runner.ahead import Ahead, Part
from dyno.runner.events import Events
from dyno.runtime import progress as stages

_EVERY_S = 1.0
_SURE = 0.02
"""Share of a phase after which its rate predicts its end."""


class Reported:
    """Passes events on, and writes the progress at most once a second.

    A file that cannot be written is left out: progress must never end a run.

    Args:
        events: Receives all events.
        bundle: The folder of the bundle.
        now_ns: The clock of the run.
        parts: The parts of the run that report progress, as far as they are known.
    """

    def __init__(
        self, events: Events, bundle: Path, now_ns: Callable[[], int], parts: Sequence[Part] = ()
    ) -> None:
        self._events, self._bundle = events, bundle
        self._now_ns, self.ahead = now_ns, Ahead(parts)
        self._next = 0.0
        self.say, self.warn = events.say, events.warn
        self.began, self.ended = events.began, events.ended

    @contextlib.contextmanager
    def phase(self, title: str) -> Generator[stages.Progress]:
        """Opens a phase; its progress goes to the events and to the bundle."""
        with self._events.phase(title) as inner:
            phase = _Phase(self, title, inner)
            phase.write(0, 0, "")
            yield phase
            phase.end()

    def close(self) -> None:
        """Removes the file: the run is over."""
        progress.remove(self._bundle)

    def write(self, title: str, start: float, done: float, total: float, text: str) -> None:
        """Writes the progress of a phase that began at ``start`` (monotonic, in s)."""
        now = time.monotonic()
        left = None
        if total > 0 and done >= _SURE * total:
            left = max(0.0, (now - start) * (total - done) / done)
        run_left = self.ahead.left_s(now - start, left)
        found = Progress(
            t_ns=self._now_ns(), phase=title, done=done, total=total, text=text[:500],
            phase_left_s=left, run_left_s=run_left,
        )  # fmt: skip
        progress.write(self._bundle, found)

    def due(self) -> bool:
        """Whether the last writing is old enough."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _EVERY_S
        return True


class _Phase:
    def __init__(self, run: Reported, title: str, inner: stages.Progress) -> None:
        self._run, self._title, self._inner = run, title, inner
        self._start = time.monotonic()
        self._measured = False

    def update(self, done: float, total: float, text: str = "") -> None:
        """Passes the progress on, and writes it when it is due."""
        self._inner.update(done, total, text)
        if not self._measured:
            self._measured = True
            self._run.ahead.began(self._title)
        if self._run.due():
            self.write(done, total, text)

    def end(self) -> None:
        """Notes the length of the phase if it is a part of the run that reports progress."""
        if self._measured:
            self._run.ahead.ended(time.monotonic() - self._start)

    def write(self, done: float, total: float, text: str) -> None:
        """Writes the progress."""
        self._run.write(self._title, self._start, done, total, text)

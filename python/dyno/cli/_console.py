"""What a person sees while Dyno works: bars with ETA on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Generator
from typing import TYPE_CHECKING

from dyno.progress import Progress, Silent
from dyno.units import seconds_text

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class Console:
    """Prose and progress, all on stderr; stdout is for results."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def say(self, text: str = "") -> None:
        """One line, unless quiet."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)  # noqa: T201

    def warn(self, text: str) -> None:
        """One line that is shown also when quiet."""
        print(text, file=sys.stderr, flush=True)  # noqa: T201

    @contextlib.contextmanager
    def phase(self, title: str) -> Generator[Progress]:
        """Shows one phase: a bar with ETA while it goes on, one line with its time at the end."""
        start = time.monotonic()
        if self.quiet:
            yield Silent()
            return
        outcome = "interrupted or failed"
        try:
            if sys.stderr.isatty():
                with _bars() as bars:
                    yield _Bar(bars, title)
            else:
                self.say(f"{title} …")
                yield _Lines(self, title)
            outcome = "done"
        finally:
            mark = "✓" if outcome == "done" else "✗"
            self.say(f"{mark} {title}: {seconds_text(time.monotonic() - start)}")


class _Bar:
    """A phase on a terminal."""

    def __init__(self, bars: Bars, title: str) -> None:
        self._bars = bars
        self._task: TaskID = bars.add_task(title, total=None, step="")

    def update(self, done: float, total: float, text: str = "") -> None:
        """Moves the bar; a bar without a total pulses."""
        self._bars.update(
            self._task, completed=min(done, total or done), total=total or None, step=text[:26]
        )


class _Lines:
    """A phase in a log: a line at most every ten seconds."""

    _EVERY_S = 10.0

    def __init__(self, console: Console, title: str) -> None:
        self._console, self._title = console, title
        self._next = time.monotonic() + self._EVERY_S

    def update(self, done: float, total: float, text: str = "") -> None:
        """Prints if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._EVERY_S
            share = f" {min(done / total, 1):.0%}" if total else ""
            self._console.say(f"  {self._title}:{share} {text}".rstrip())


def _bars() -> Bars:
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    return RichProgress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TaskProgressColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[step]}", style="dim"),
        console=RichConsole(stderr=True),
        transient=True,
        refresh_per_second=5,
    )

"""Progress on stderr: bars with ETA on a terminal, plain lines in a log."""

from __future__ import annotations

import contextlib
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from dyno.config.units import seconds_text
from dyno.errors import FaultError
from dyno.runtime.progress import Progress, Silent

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console as RichConsole
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from dyno.cli._live import LivePage
    from dyno.cli._pulse import Pulse
    from dyno.runner.conclude import Ended


_BAR = 12
_TITLE = 12
"""Minimum columns of a title."""

_STEP = 26
"""Minimum columns of a step."""

_NUMBERS = 16
"""Columns of a percentage, an ETA below ten hours, and the spaces."""


class Console:
    """Prints text and progress to stderr, results to stdout."""

    def __init__(self, *, quiet: bool, as_json: bool = False, live: bool = False) -> None:
        self.quiet, self.as_json, self._live = quiet, as_json, live
        self._pulse: Pulse | None = None
        self._page: LivePage | None = None

    def began(self, bundle: Path) -> None:
        """Shows the newest numbers of the run beside its progress from now on."""
        if not self.quiet:
            from dyno.cli._pulse import Pulse

            self._pulse = Pulse(bundle)
        if self._live:
            from dyno.cli._live import LivePage

            self._page = LivePage(bundle, self)

    def newest(self) -> str:
        """The newest numbers of the run; empty without any."""
        return "" if self._pulse is None else self._pulse.text

    def left_s(self) -> float | None:
        """Expected seconds to the end of the run; None if unknown."""
        return None if self._pulse is None else self._pulse.left_s()

    def say(self, text: str = "") -> None:
        """Prints a line, unless quiet."""
        if not self.quiet:
            print(_fitted(text), file=sys.stderr, flush=True)  # noqa: T201

    def warn(self, text: str) -> None:
        """Prints a line, even when quiet."""
        print(_fitted(text), file=sys.stderr, flush=True)  # noqa: T201

    @contextlib.contextmanager
    def phase(self, title: str) -> Generator[Progress]:
        """Shows a phase: a bar with ETA while it runs, one line with its time at the end."""
        start = time.monotonic()
        if self.quiet:
            yield Silent()
            return
        outcome = "interrupted or failed"
        try:
            if sys.stderr.isatty():
                with _bars() as bars:
                    yield Bar(bars, title, self.newest, self.left_s)
            else:
                self.say(f"{title} …")
                yield _Lines(self, title)
            outcome = "done"
        finally:
            mark = "✓" if outcome == "done" else "✗"
            self.say(f"{mark} {title}: {seconds_text(time.monotonic() - start)}")

    def close(self) -> None:
        """Stops what follows a record; returns when nobody reads it any more."""
        self._stop()
        if self._page is not None:
            self._page.wait()

    def _stop(self) -> None:
        if self._pulse is not None:
            self._pulse.stop()
        if self._page is not None:
            self._page.end()

    def ended(self, ended: Ended) -> None:
        """Prints the outcome of a run: results on stdout, the rest on stderr."""
        import click

        from dyno.cli._colour import coloured
        from dyno.safety import plainjson

        self._stop()
        if ended.message and not isinstance(ended.failure, FaultError):
            self.warn(f"dyno: {ended.message}")
        if ended.unanalysed:
            # Mostly a full disk. The spools stay readable.
            self.warn(
                f"dyno: The run was recorded but not analysed ({ended.unanalysed}). "
                f"Its bundle is {ended.path}; `dyno report {ended.path}` tries again."
            )
            return
        if self.as_json:
            click.echo(plainjson.dumps(ended.document))
        if ended.page is not None and self.as_json:
            self.say("\n".join(ended.lines))
        elif ended.page is not None:
            click.echo(coloured(ended.lines))
        self.say("Nothing was measured." if ended.page is None else f"Report: {ended.page}")


def _fitted(text: str) -> str:
    """Wraps lines at the width of the terminal; leaves lines of a log as they are."""
    if not sys.stderr.isatty():
        return text
    columns = shutil.get_terminal_size().columns
    return "\n".join(
        "\n".join(
            textwrap.wrap(
                line, max(columns, 40), subsequent_indent="  ", break_long_words=False,
                break_on_hyphens=False, drop_whitespace=True,
            )
        )
        if len(line) > columns
        else line
        for line in text.split("\n")
    )  # fmt: skip


class Bar:
    """A phase on one line of a terminal. A long title is cut, the ETA never.

    Args:
        bars: The line.
        title: Of the phase.
        newest: The newest numbers of the run, which go before the step of the phase.
        left_s: Expected seconds to the end of the run; None if unknown.

    Attributes:
        title: The title from the next update on.
    """

    def __init__(
        self,
        bars: Bars,
        title: str,
        newest: Callable[[], str] = str,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._bars, self.title, self._newest, self._left_s = bars, title, newest, left_s
        self._width = bars.console.width - _BAR - _NUMBERS
        self._task: TaskID = bars.add_task(cut(title, self._width), total=None, step="", left=None)

    def update(self, done: float, total: float, text: str = "") -> None:
        """Moves the bar; a bar without a total pulses."""
        numbers = self._newest()
        least = max(_STEP, min(len(numbers), self._width - _TITLE))
        room = max(least, self._width - len(self.title))
        # The numbers whole, and the step if there is space for both.
        both = f"{numbers}  {text}" if text and len(numbers) + _TITLE < room else numbers
        step = cut(both if numbers else text, room)
        self._bars.update(
            self._task,
            description=cut(self.title, self._width - len(step)),
            completed=min(done, total or done),
            total=total or None,
            step=step,
            left=self._left_s(),
        )


def cut(text: str, columns: int) -> str:
    """Cuts ``text`` to ``columns``, at least twelve, with an ellipsis."""
    columns = max(columns, 12)
    return text if len(text) <= columns else f"{text[: columns - 1].rstrip()}…"


class _Lines:
    """A phase in a log: at most one line every ten seconds."""

    _EVERY_S = 10.0

    def __init__(self, console: Console, title: str) -> None:
        self._console, self._title = console, title
        self._next = time.monotonic() + self._EVERY_S

    def update(self, done: float, total: float, text: str = "") -> None:
        """Prints a line if the last one is old enough."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._EVERY_S
            share = f"{min(done / total, 1):.0%}" if total else ""
            words = " ".join(filter(None, (share, text, self._console.newest())))
            self._console.say(f"  {self._title}: {words}".rstrip())


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def _bars() -> Bars:
    from rich.console import Console as RichConsole

    return bars_on(RichConsole(stderr=True))


def bars_on(console: RichConsole) -> Bars:
    """Bars with percentage, step, and the ETA of the run, or of the phase if that is all known."""
    from rich.progress import BarColumn, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class Left(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            left_s = task.fields["left"]
            return super().render(task) if left_s is None else Text(_clock(left_s))

    return RichProgress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=_BAR),
        TaskProgressColumn(),
        Left(compact=True),
        TextColumn("{task.fields[step]}", style="dim"),
        console=console,
        transient=True,
        refresh_per_second=5,
    )

"""What a study shows while it runs: a live page, and one line with its newest numbers."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.errors import DynoError

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from dyno.cli._console import Console
    from dyno.cli._options import Options

_EVERY_S = 1.0


@contextlib.contextmanager
def shown(folder: Path, console: Console, options: Options) -> Generator[None]:
    """Shows the study in ``folder`` during the block, as far as the user asked for it."""
    from dyno.cli._live import LivePage

    with contextlib.ExitStack() as stack:
        if options.live:
            # Starts once the folder holds a study, and stays a while after its end.
            page = LivePage(folder, console)
            stack.callback(page.end)
        if not options.quiet and sys.stderr.isatty():
            stack.enter_context(_line(folder))
        yield


@contextlib.contextmanager
def _line(folder: Path) -> Generator[None]:
    from rich.console import Console as RichConsole

    from dyno.cli._console import bars_on

    ended = threading.Event()
    with bars_on(RichConsole(stderr=True)) as bars:
        thread = threading.Thread(
            target=_follow, args=(folder, bars, ended), daemon=True, name="dyno-study-line"
        )
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _follow(folder: Path, bars: Bars, ended: threading.Event) -> None:
    """Updates the line once a second."""
    from dyno.cli._console import Bar
    from dyno.cli._pulse import words
    from dyno.live.shown import Shown, newest_run

    run: Shown | None = None
    left: dict[str, Any] | None = None
    bar = Bar(bars, "Study", lambda: "" if run is None else words(run.watched),
              lambda: None if left is None else left["left_s"])  # fmt: skip
    with contextlib.suppress(DynoError, OSError):
        while not ended.wait(_EVERY_S):
            if run is None:
                run = Shown(folder) if newest_run(folder) is not None else None
                continue
            run.poll(_EVERY_S)
            left = run.left()
            if left is not None:
                bar.title = left["step"]
                bar.update(left["done"], left["total"])
    if run is not None:
        run.close()

"""Work that records no run, with a record for its live page while it goes on."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

from dyno.bundle.writer import Recorder
from dyno.runner.ahead import Part
from dyno.runner.events import Events
from dyno.runner.reported import Reported
from dyno.stages.observe.sampler import Sampler
from dyno.workspace.lock import OutLock


@contextlib.contextmanager
def followed(
    events: Events, verb: str, command: str, close: Callable[[], None], *, live: bool
) -> Generator[Events]:
    """The events of work with one phase; if ``live``, a temporary record has them as well.

    The record has the progress and the samples of the machine. It is removed after ``close``, which
    returns when its readers have ended.

    Raises:
        UsageError: If the record cannot be created.
    """
    if not live:
        yield events
        return
    with tempfile.TemporaryDirectory(prefix="dyno-live-", ignore_cleanup_errors=True) as folder:
        out = Path(folder)
        recorder = Recorder(out, verb, {"command": command}, ())
        reported = Reported(
            events, recorder.path, recorder.clock.unix_now_ns, [Part(1.0, fixed=False)]
        )
        status = "failed"
        try:
            with OutLock(out), Sampler(recorder):
                events.began(recorder.path)
                yield reported
            status = "done"
        finally:
            reported.close()
            recorder.finish(status)
            recorder.close()
            close()

"""The job of ``dyno watch TARGET``: records a system that Dyno does not load."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator

from dyno import targets
from dyno.bundle.phases.watch import WatchDetail
from dyno.bundle.writer import Recording
from dyno.config.units import seconds_text
from dyno.contracts.inspection import Inspected, Inspector
from dyno.contracts.probe import Probed, TargetProbe
from dyno.contracts.target import Target
from dyno.errors import DynoError, UsageError
from dyno.plans.watch import HOST, WatchPlan
from dyno.runner import columns, compressing
from dyno.runner.ahead import Part
from dyno.runner.session import Job, Session
from dyno.runtime.progress import Progress
from dyno.stages.observe import inspected

PIECE_S = 600.0
"""Time after which samples are compressed, and statements and relations are read."""


def job(asked: WatchPlan) -> Job:
    """Turns the plan into a job. Touches nothing.

    Raises:
        UsageError: If the target is not a running server, or an option is invalid.
    """
    interval_s = asked.interval_s
    url = None if asked.target == HOST else targets.parse(asked.target)
    if url is not None and (url.scheme == "embedded" or not targets.is_server(url.name)):
        raise UsageError(
            f"'{url.redacted}' is not a running server. Give the URL of one, or {HOST} for this "
            "machine alone."
        )

    def body(session: Session) -> None:
        if url is None:
            _watch(session, asked, None)
            return
        with session.target(asked.target) as target:
            _watch(session, asked, target)

    shown = HOST if url is None else url.redacted
    record = {"target": shown, "for_s": asked.seconds, "interval_s": interval_s}
    parts = () if asked.seconds is None else (Part(asked.seconds),)
    return Job(asked, record, (), asked.out, body, interval_s=interval_s, parts=parts)


def _watch(session: Session, asked: WatchPlan, target: Target | None) -> None:
    """Records until the time is up or a signal arrives; both are a planned end."""
    probes: list[TargetProbe] = [*target.probes()] if isinstance(target, Probed) else []
    detail = WatchDetail(
        asked_s=asked.seconds,
        interval_s=asked.interval_s,
        probes=tuple(probe.name for probe in probes),
        inspect_s=PIECE_S,
    )
    name = None if target is None else target.name
    title = f"Watch {name or 'this machine'}"
    with (
        session.recorder.phase("watch", title, detail, name) as recording,
        session.events.phase(title) as progress,
        session.sampler.joined(probes),
        _inspected(session, target) as inspect,
    ):
        if target is not None:
            columns.record(session.recorder, target)
        stopped = _wait(session, asked.seconds, progress, inspect)
        recording.detail = detail.model_copy(update={"stopped": stopped})
        _close(session, recording, inspect)


def _close(
    session: Session, recording: Recording[WatchDetail], inspect: Callable[[], None]
) -> None:
    """Reads statements and relations once more; a second signal skips that."""
    try:
        inspect()
    except KeyboardInterrupt:
        recording.detail = recording.detail.model_copy(update={"stopped": True})
        session.events.warn("The last reading of statements and tables is missing.")


def _wait(
    session: Session, seconds: float | None, progress: Progress, inspect: Callable[[], None]
) -> bool:
    """Waits for the end; returns whether a signal came before it."""
    start = time.monotonic()
    never = threading.Event()
    due = start + PIECE_S
    try:
        while True:
            now = time.monotonic()
            left = None if seconds is None else start + seconds - now
            if left is not None and left <= 0:
                return False
            if now >= due:
                session.recorder.rotate("samples", compressing.compress)
                inspect()
                due += PIECE_S * (1 + (now - due) // PIECE_S)
            text = "" if left is not None else f"{seconds_text(now - start)}; Ctrl-C ends it"
            progress.update(now - start, seconds or 0, text)
            never.wait(min(1.0, 1.0 if left is None else left))
    except KeyboardInterrupt:
        return True


@contextlib.contextmanager
def _inspected(session: Session, target: Target | None) -> Generator[Callable[[], None]]:
    """Yields a function that records statements and relations since its previous call.

    A database that does not respond is asked again at the next call.
    """
    inspector = target.inspector() if isinstance(target, Inspected) else None
    if target is None or inspector is None:
        yield lambda: None
        return
    with contextlib.closing(inspector):
        periods = _Periods(session, target, inspector)
        periods.begin()
        yield periods.record


class _Periods:
    """The periods of an inspector, one after another."""

    def __init__(self, session: Session, target: Target, inspector: Inspector) -> None:
        self._recorder, self._target, self._inspector = session.recorder, target, inspector
        self._start_ns: int | None = None

    def begin(self) -> None:
        try:
            self._inspector.begin()
        except DynoError as error:
            reason = str(error)
            self._recorder.event("inspection-failed", target=self._target.name, reason=reason)
        else:
            self._start_ns = self._recorder.clock.unix_now_ns()

    def record(self) -> None:
        if self._start_ns is None:
            self.begin()
            return
        given = (self._recorder, self._target, self._inspector, self._start_ns)
        self._start_ns = inspected.record(*given)

"""Repeats a disturbed part of a run once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dyno.bundle import superseded
from dyno.bundle.reader import Bundle
from dyno.decide.case import MEASURED, Case
from dyno.decide.quiet import Noise, counted
from dyno.runner.session import Session

T = TypeVar("T")


class Again:
    """Runs work and repeats it once if the machine was not quiet.

    After a disturbed repeat, no further work is repeated: persistent noise would only double the
    run time.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._helps = True

    def __call__(self, work: Callable[[], T]) -> T:
        """Runs ``work`` and returns the result of the attempt that counts.

        Raises:
            DynoError: Any error that ``work`` raises.
        """
        recorder, say = self._session.recorder, self._session.events.say
        before = superseded.mark(recorder)
        result = work()
        noise = self._noise(before)
        if noise is None or any(one.passed is False for one in recorder.checks[before.checks :]):
            return result  # a failed attempt is never discarded
        message = f"! {noise.phase.title}: disturbed ({noise.words})."
        if not self._helps:
            say(f"{message} Not repeated.")
            return result
        say(f"{message} Repeating; the repeat counts.")
        superseded.set_aside(recorder, before, noise.words)
        result = work()
        after = self._noise(before)
        if after is not None:
            self._helps = False
            say(
                f"! {after.phase.title}: disturbed again ({after.words}). Repeating does not help; "
                "nothing else is repeated."
            )
        return result

    def _noise(self, before: superseded.Mark) -> Noise | None:
        """Returns the strongest disturbance that counters recorded; None if there was none."""
        recorder = self._session.recorder
        case = Case.of(Bundle(recorder.path, recorder.run), ())
        found = [
            noise
            for phase in superseded.attempted(recorder, before)
            if phase.kind in MEASURED and (noise := counted(case, phase)) is not None
        ]
        loud = [noise for noise in found if not noise.quiet]
        return max(
            loud, key=lambda noise: (noise.steal or 0.0) + (noise.foreign or 0.0), default=None
        )

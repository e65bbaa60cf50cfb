"""How many checkpoints began in the measured time of a level, where the target counts them."""

from __future__ import annotations

import math
import threading

from dyno.bundle.phases import oltp
from dyno.contracts.checkpoints import Checkpointed, Checkpoints
from dyno.contracts.target import Target
from dyno.errors import TargetError
from dyno.runtime.progress import Progress

LONGEST_S = 5.0
"""A server that has not told its counters by then does not tell them."""


class CheckpointCount:
    """Passes a level's progress on, and reads the counters when its warm-up is over."""

    def __init__(self, target: Target, progress: Progress, warmup_s: float) -> None:
        self._target, self._progress = target, progress
        self._due_ms = 1000 * warmup_s
        self._before: Checkpoints | None = None

    def update(self, done: float, total: float, text: str = "") -> None:
        """Takes the driver's progress, in ms."""
        if done >= self._due_ms:
            self._before, self._due_ms = self._read(), math.inf
        self._progress.update(done, total, text)

    def counted(self) -> oltp.Checkpoints | None:
        """Those of the level, to be called when it is over; None where they are not known."""
        before, after = self._before, self._read()
        if before is None or after is None or after.begun < before.begun:
            return None  # not known, or the server has reset its counters
        return oltp.Checkpoints(
            count=after.begun - before.begun,
            interval_s=after.interval_s,
            setting=after.setting,
            source=f"{after.source}, after − before",
        )

    def _read(self) -> Checkpoints | None:
        """The counters; a server that has no session left for it is measured all the same.

        So is one that answers no more: it is asked in a thread that nobody waits for any longer.
        """
        if not isinstance(self._target, Checkpointed):
            return None
        asked = _Asked(self._target)
        asked.start()
        asked.join(LONGEST_S)
        return asked.counted()


class _Asked(threading.Thread):
    """A question for the counters."""

    def __init__(self, target: Checkpointed) -> None:
        super().__init__(daemon=True, name="dyno-checkpoints")
        self._target = target
        self._found: Checkpoints | None = None
        self._fault: Exception | None = None

    def run(self) -> None:
        """Asks it."""
        try:
            self._found = self._target.checkpoints()
        except TargetError:
            pass
        except Exception as fault:
            self._fault = fault

    def counted(self) -> Checkpoints | None:
        """The answer; None while there is none."""
        if self._fault is not None:
            raise self._fault
        return self._found

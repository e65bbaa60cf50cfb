"""Records answers in a separate thread, because digests would delay the next query."""

from __future__ import annotations

import queue
import threading

from dyno.bundle.model import Clock
from dyno.bundle.writer import Recorder
from dyno.stages.drive.dss.query import Outcome
from dyno.workloads.canonical import digest

MOST_ROWS = 200
"""Row limit up to which the digest of an answer costs less than a hand-over to another thread."""


class AnswerRecorder:
    """Adds each outcome to the bundle, with the digest of its answer.

    Large answers go to a separate thread. Use as a context manager; the exit waits until all
    outcomes are recorded.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._given: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True, name="dyno-notary")

    def __enter__(self) -> AnswerRecorder:
        """Starts the thread."""
        self._thread.start()
        return self

    def __exit__(self, kind: object, *exc: object) -> None:
        """Waits for the last record.

        Raises:
            DynoError: If a record cannot be written, for example on a full disk.
        """
        self._given.put(None)
        self._thread.join()
        if self._failure is not None and kind is None:
            raise self._failure

    @property
    def clock(self) -> Clock:
        """The clock of the run."""
        return self._recorder.clock

    def record(self, outcome: Outcome) -> None:
        """Accepts an outcome and returns immediately.

        Raises:
            DynoError: If a record cannot be written, for example on a full disk.
        """
        if outcome.answer is not None and len(outcome.answer.rows) > MOST_ROWS:
            self._given.put(outcome)
        else:
            self._write(outcome)

    def _work(self) -> None:
        while (outcome := self._given.get()) is not None:
            if self._failure is not None:
                continue
            try:
                self._write(outcome)
            except BaseException as error:
                self._failure = error

    def _write(self, outcome: Outcome) -> None:
        if outcome.answer is not None and outcome.query is not None:
            rules = outcome.query.of(outcome.answer).rules
            outcome.row["digest"] = digest(outcome.answer.rows, rules)
        self._recorder.add("queries", [outcome.row])

"""After a load into a server: runs statements in parallel sessions, timed and measured."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from dyno.contracts.target import Connection, Progress
from dyno.errors import DynoError, Interrupted
from dyno.workspace.footprint import Meter, Probe, StepRecord

Session = TypeVar("Session", bound=Connection)
Statement = TypeVar("Statement")

_POLL_S = 0.1
_MOST_SESSIONS = 8
_INTERRUPTED = "Interrupted while adding keys and indexes."


@dataclass(frozen=True)
class Step(Generic[Statement]):
    """One statement of the work.

    Attributes:
        name: Its name in the record, such as ``primary key lineitem``.
        weight: Its share of the work for the progress: bytes of the table that it reads, or 1.
        final: A cheap statement that completes the step; it runs alone, after its stage.
        kind: ``primary key``, ``index``, ``cluster``, ``foreign key`` or ``analyse``.
        table: The table it works on.
        relation: The table or index that changes in size, if any.
    """

    name: str
    statement: Statement
    weight: int = 1
    final: Statement | None = None
    kind: str = ""
    table: str = ""
    relation: str | None = None


@dataclass(frozen=True)
class Stage(Generic[Statement]):
    """Steps that may run in parallel, or ``alone`` one after another."""

    steps: Sequence[Step[Statement]]
    alone: bool = False


class StepLog(ABC, Generic[Session, Statement]):
    """Measures the steps of an index stage, including parallel ones.

    A step that builds something uses temporary files and the files of the new object. Both belong
    to
    the step, whatever runs in parallel. A step that rewrites a table runs alone, so the total of
    all
    files measures it. Without access to the files, only the final growth is known, not the peak.

    Attributes:
        ALONE: Kinds of steps that rewrite a table.
    """

    ALONE: ClassVar[frozenset[str]]

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._found: dict[str, dict[str, Any]] = {}

    @contextlib.contextmanager
    def around(self, step: Step[Statement], session: Session) -> Generator[None]:
        """Measures one step that this session runs."""
        before = self._size(step, session)
        with (
            self._meter.watching(self._probe(step, session)) as peak,
            self._memory(step, session) as probe,
            self._meter.watching(probe) as memory,
        ):
            yield
        after = self._size(step, session)
        rest = None if before is None or after is None else after - before
        extra = peak.extra
        if extra is not None and step.kind in self.ALONE:
            # The new copy is complete before the old one is dropped, even if no sample shows it.
            extra = max(extra, after or 0)
        elif extra is not None:
            extra += max(0, rest or 0)
        table = self._table_bytes(step, before)
        self._found[step.name] = {
            "kind": step.kind,
            "table": step.table,
            "moved_bytes": table if step.kind == "cluster" else None,
            "extra_peak_bytes": extra,
            "extra_rest_bytes": rest,
            "table_bytes": table or None,
            "memory_peak_bytes": memory.highest,
        }

    def records(self, seconds: dict[str, float]) -> list[dict[str, Any]]:
        """All steps in order of completion, with their measurements."""
        return [
            StepRecord(step=name, seconds=seconds[name], **fields).record()
            for name, fields in self._found.items()
        ]

    @abstractmethod
    def _size(self, step: Step[Statement], session: Session) -> int | None:
        """Current bytes of the object that the step creates or changes; None if unknown."""

    @abstractmethod
    def _probe(self, step: Step[Statement], session: Session) -> Probe | None:
        """A probe of the step's additional bytes while it runs; None without the files."""

    def _memory(
        self,
        step: Step[Statement],  # noqa: ARG002
        session: Session,  # noqa: ARG002
    ) -> AbstractContextManager[Probe | None]:
        """Opens a probe of the memory that the server gives the step; None without one."""
        return contextlib.nullcontext()

    @abstractmethod
    def _table_bytes(self, step: Step[Statement], before: int | None) -> int | None:
        """Bytes of the table that the step reads; ``before`` is the previous :meth:`_size`."""


class Indexer(Generic[Session, Statement]):
    """Runs steps over several sessions; can be stopped."""

    def __init__(
        self,
        connect: Callable[[], Session],
        execute: Callable[[Session, Step[Statement], Statement], object],
        threads: int,
        stop: threading.Event,
        progress: Progress,
        log: StepLog[Session, Statement] | None = None,
    ) -> None:
        """Creates it without work.

        Args:
            connect: Opens a session.
            execute: Runs a statement of a step in a session; raises ``DynoError`` on failure.
            threads: Maximum number of sessions.
            stop: Stops the work when set.
            progress: Receives the progress.
            log: Measures each step.
        """
        self._connect = connect
        self._execute = execute
        self._sessions = sessions_for(threads)
        self._stop = stop
        self._progress = progress
        self._log = log
        self._lock = threading.Lock()
        self._failures: list[DynoError] = []
        self._done = 0
        self._total = 0
        self.seconds: dict[str, Any] = {}

    def expect(self, stages: Iterable[Sequence[Step[Statement]]]) -> None:
        """Announces the total amount of work."""
        self._total = sum(step.weight for steps in stages for step in steps)

    def run(self, steps: Sequence[Step[Statement]]) -> None:
        """Runs the steps, each as soon as a session is free, then the final statements.

        Raises:
            Interrupted: If it was stopped.
            DynoError: The error of the first failing step; the others are cancelled.
        """
        waiting: queue.SimpleQueue[Step[Statement]] = queue.SimpleQueue()
        for step in steps:
            waiting.put(step)
        with contextlib.ExitStack() as stack:
            sessions: list[Session] = []
            for _ in range(0 if self._stop.is_set() else min(self._sessions, len(steps))):
                sessions.append(self._connect())
                stack.callback(sessions[-1].close)
            threads = [
                threading.Thread(target=self._work, args=(session, waiting), daemon=True)
                for session in sessions
            ]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(_POLL_S)
                if self._stop.is_set() or self._failures:
                    for session in sessions:
                        session.cancel()
            if self._stop.is_set():
                raise Interrupted(_INTERRUPTED)
            if self._failures:
                raise self._failures[0]
            for step in steps:
                if step.final is not None:
                    self._timed(sessions[0], step, step.final)

    def run_alone(self, steps: Sequence[Step[Statement]]) -> None:
        """Runs the steps one after another (see :meth:`run`)."""
        for step in steps:
            self.run([step])

    def _work(self, session: Session, waiting: queue.SimpleQueue[Step[Statement]]) -> None:
        while not self._stop.is_set() and not self._failures:
            try:
                step = waiting.get_nowait()
            except queue.Empty:
                return
            self._progress(self._done, self._total, step.name)
            around = (
                contextlib.nullcontext() if self._log is None else self._log.around(step, session)
            )
            try:
                with around:
                    self._timed(session, step, step.statement)
            except DynoError as error:
                self._failures.append(error)
                return
            with self._lock:
                self._done += step.weight
            self._progress(self._done, self._total, step.name)

    def _timed(self, session: Session, step: Step[Statement], statement: Statement) -> None:
        start = time.monotonic()
        self._execute(session, step, statement)
        self.seconds[step.name] = self.seconds.get(step.name, 0.0) + time.monotonic() - start


def sessions_for(threads: int) -> int:
    """The number of parallel sessions for a number of CPUs."""
    return max(1, min(threads, _MOST_SESSIONS))

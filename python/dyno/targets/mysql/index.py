"""Secondary indexes and statistics after a load, several tables at once."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dyno.contracts.target import Progress
from dyno.contracts.workload import Index
from dyno.errors import DynoError, Interrupted
from dyno.targets.mysql.connection import MysqlConnection, quoted
from dyno.targets.mysql.version import Version

_POLL_S = 0.1
_MOST_SESSIONS = 8
_INTERRUPTED = "Interrupted while adding indexes."


@dataclass(frozen=True)
class Step:
    """One statement of the work.

    Attributes:
        name: What it is called in the record.
        kind: ``index``, ``cluster``, ``foreign key`` or ``analyse``.
        table: The table it works on.
    """

    name: str
    statement: str
    kind: str
    table: str


Around = Callable[[Step, MysqlConnection], contextlib.AbstractContextManager[None]]
"""Entered for the length of a step's statement, with the session that runs it."""


def build_steps(place: str, indexes: Sequence[Index], present: set[tuple[str, str]]) -> list[Step]:
    """The indexes that are not there yet, one statement a table.

    InnoDB builds all indexes of a statement from one scan, and statements that change one table
    wait for each other.
    """
    missing: dict[str, list[Index]] = {}
    for index in indexes:
        if (index.table, index.name) not in present:
            missing.setdefault(index.table, []).append(index)
    steps: list[Step] = []
    for table, wanted in missing.items():
        added = ", ".join(
            f"ADD INDEX {quoted(index.name)} ({', '.join(map(quoted, index.columns))})"
            for index in wanted
        )
        name = f"index {', '.join(index.name for index in wanted)}"
        statement = f"ALTER TABLE {quoted(place)}.{quoted(table)} {added}"
        steps.append(Step(name, statement, "index", table))
    return steps


def analyze_steps(place: str, tables: Sequence[dict[str, Any]], version: Version) -> list[Step]:
    """Statistics of each table.

    MariaDB has statistics of its own for columns without an index, and histograms; of sentences,
    of which hardly two are the same, they would tell nothing.
    """
    steps: list[Step] = []
    for table in tables:
        statement = f"ANALYZE TABLE {quoted(place)}.{quoted(table['name'])}"
        if version.is_mariadb:
            columns = [quoted(item["name"]) for item in table["columns"] if not item["prose"]]
            statement += f" PERSISTENT FOR COLUMNS ({', '.join(columns)}) INDEXES ALL"
        steps.append(Step(f"analyse {table['name']}", statement, "analyse", table["name"]))
    return steps


class Indexer:
    """Runs steps over several sessions, and can be stopped."""

    def __init__(
        self,
        connect: Callable[[], MysqlConnection],
        threads: int,
        stop: threading.Event,
        progress: Progress,
        around: Around = lambda _step, _session: contextlib.nullcontext(),
    ) -> None:
        self._around = around
        self._connect = connect
        self._threads = max(1, min(threads, _MOST_SESSIONS))
        self._stop = stop
        self._progress = progress
        self._failures: list[DynoError] = []
        self._done = 0
        self._total = 0
        self.seconds: dict[str, Any] = {}

    def expect(self, steps: int) -> None:
        """Says how many steps there will be in all."""
        self._total = steps

    def run(self, steps: Sequence[Step]) -> None:
        """Runs the steps, each as soon as a session is free.

        Raises:
            Interrupted: If it was stopped.
            DynoError: What the first failing step met; the others are cancelled.
        """
        waiting: queue.SimpleQueue[Step] = queue.SimpleQueue()
        for step in steps:
            waiting.put(step)
        if self._stop.is_set():
            raise Interrupted(_INTERRUPTED)
        sessions: list[MysqlConnection] = []
        try:
            for _ in range(min(self._threads, len(steps))):
                sessions.append(self._connect())
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
        finally:
            for session in sessions:
                session.close()
        if self._stop.is_set():
            raise Interrupted(_INTERRUPTED)
        if self._failures:
            raise self._failures[0]

    def run_alone(self, steps: Sequence[Step]) -> None:
        """Runs the steps one after another (see :meth:`run`)."""
        for step in steps:
            self.run([step])

    def _work(self, session: MysqlConnection, waiting: queue.SimpleQueue[Step]) -> None:
        while not self._stop.is_set() and not self._failures:
            try:
                step = waiting.get_nowait()
            except queue.Empty:
                return
            self._progress(self._done, self._total, step.name)
            try:
                with self._around(step, session):
                    start = time.monotonic()
                    answer = session.execute(step.statement)
                    seconds = time.monotonic() - start
                # ANALYZE tells its failures as rows: table, operation, type, text.
                told = [row[3] for row in answer.rows if str(row[2]).lower() == "error"]
                if told:
                    raise DynoError(f"{step.name} failed: {told[0]}", kind="database")
            except DynoError as error:
                self._failures.append(error)
                return
            self.seconds[step.name] = seconds
            self._done += 1

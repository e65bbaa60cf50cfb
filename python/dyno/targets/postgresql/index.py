"""Keys, indexes and statistics after a load, several sessions at once."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from dyno.contracts.target import Progress
from dyno.contracts.workload import Index
from dyno.errors import DynoError, Interrupted
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.connection import PostgresConnection

_POLL_S = 0.1
_MOST_SESSIONS = 8


@dataclass(frozen=True)
class Step:
    """One statement of the work.

    Attributes:
        name: What it is called in the record, such as ``primary key lineitem``.
        weight: Bytes of the table that it reads, for the order and the progress.
        final: A cheap statement that completes it; run alone, after all steps of its stage.
        kind: ``primary key``, ``index``, ``cluster``, ``foreign key`` or ``analyse``.
        table: The table it works on.
        relation: The table or index whose size it changes, if one.
    """

    name: str
    statement: sql.Composed
    weight: int
    final: sql.Composed | None = None
    kind: str = ""
    table: str | None = None
    relation: str | None = None


Around = Callable[[Step, PostgresConnection], contextlib.AbstractContextManager[None]]
"""Entered for the length of a step's statement, with the session that runs it."""


def build_steps(
    place: str,
    tables: Sequence[dict[str, Any]],
    indexes: Sequence[Index],
    sizes: dict[str, int],
    present: set[str],
    keyed: set[str] | None = None,
) -> list[Step]:
    """Primary keys and secondary indexes that are not there yet, largest table first.

    A key is built as a unique index, which lets other indexes of its table be built at the same
    time, and made the primary key when all are done. Work that was cut off may have left the index
    alone: ``keyed`` are those in ``present`` that are keys already (all, if None).
    """
    steps: list[Step] = []
    for table in tables:
        name = f"{table['name']}_pkey"
        final = sql.SQL("ALTER TABLE {} ADD PRIMARY KEY USING INDEX {}").format(
            sql.Identifier(place, table["name"]), sql.Identifier(name)
        )
        label = f"primary key {table['name']}"
        own = ("primary key", table["name"], name)
        if keyed is not None and name in present - keyed:
            steps.append(Step(label, final, 0, None, *own))
        elif table["primary_key"] and name not in present:
            statement = create_index(place, name, table["name"], table["primary_key"], "UNIQUE ")
            steps.append(Step(label, statement, sizes.get(table["name"], 0), final, *own))
    for index in indexes:
        if index.name not in present:
            statement = create_index(place, index.name, index.table, index.columns, "")
            size, label = sizes.get(index.table, 0), f"index {index.name}"
            steps.append(Step(label, statement, size, None, "index", index.table, index.name))
    return sorted(steps, key=lambda step: -step.weight)


def vacuum_steps(place: str, tables: Sequence[dict[str, Any]], sizes: dict[str, int]) -> list[Step]:
    """Visibility map, hint bits and statistics of each table, largest first."""
    steps = [
        Step(
            f"vacuum analyse {table['name']}",
            sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(place, table["name"])),
            sizes.get(table["name"], 0),
            kind="analyse",
            table=table["name"],
            relation=table["name"],
        )
        for table in tables
    ]
    return sorted(steps, key=lambda step: -step.weight)


class Indexer:
    """Runs steps over several sessions, and can be stopped."""

    def __init__(
        self,
        connect: Callable[[], PostgresConnection],
        threads: int,
        stop: threading.Event,
        progress: Progress,
        around: Around = lambda _step, _session: contextlib.nullcontext(),
    ) -> None:
        self._connect = connect
        self._around = around
        self._sessions = max(1, min(threads, _MOST_SESSIONS))
        self._workers = max(1, threads // self._sessions)
        self._stop = stop
        self._progress = progress
        self._lock = threading.Lock()
        self._done = 0
        self._total = 0
        self.seconds: dict[str, Any] = {}

    def expect(self, stages: Sequence[Sequence[Step]]) -> None:
        """Says how much work there will be in all."""
        self._total = sum(step.weight for steps in stages for step in steps)

    def run(self, steps: Sequence[Step]) -> None:
        """Runs the steps, each as soon as a session is free, then what completes them.

        Raises:
            Interrupted: If it was stopped.
            DynoError: What the first failing step met; the others are cancelled.
        """
        waiting: queue.SimpleQueue[Step] = queue.SimpleQueue()
        for step in steps:
            waiting.put(step)
        count = min(self._sessions, len(steps))
        crew = _Crew(self._connect, count, self._workers)
        try:
            threads = [
                threading.Thread(target=self._work, args=(crew, session, waiting), daemon=True)
                for session in crew.sessions
            ]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(_POLL_S)
                if self._stop.is_set() or crew.failure is not None:
                    crew.cancel()
            if self._stop.is_set():
                raise Interrupted("Interrupted while adding keys and indexes.")
            if crew.failure is not None:
                raise crew.failure
            for step in steps:
                if step.final is not None:
                    self._timed(step.name, crew.sessions[0], step.final)
        finally:
            crew.close()

    def run_alone(self, steps: Sequence[Step]) -> None:
        """Runs the steps one after another (see :meth:`run`)."""
        for step in steps:
            self.run([step])

    def _work(
        self, crew: _Crew, session: PostgresConnection, waiting: queue.SimpleQueue[Step]
    ) -> None:
        while not self._stop.is_set() and crew.failure is None:
            try:
                step = waiting.get_nowait()
            except queue.Empty:
                return
            self._progress(self._done, self._total, step.name)
            try:
                with self._around(step, session):
                    self._timed(step.name, session, step.statement)
            except DynoError as error:
                crew.failure = crew.failure or error
                return
            with self._lock:
                self._done += step.weight
            self._progress(self._done, self._total, step.name)

    def _timed(self, name: str, session: PostgresConnection, statement: sql.Composed) -> None:
        start = time.monotonic()
        ddl.run(session, [statement])
        self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - start


class _Crew:
    """Sessions that work side by side."""

    def __init__(self, connect: Callable[[], PostgresConnection], count: int, workers: int) -> None:
        self.failure: DynoError | None = None
        self.sessions: list[PostgresConnection] = []
        try:
            for _ in range(count):
                session = connect()
                self.sessions.append(session)
                session.execute(f"SET max_parallel_maintenance_workers = {workers}")
        except BaseException:
            self.close()
            raise

    def cancel(self) -> None:
        for session in self.sessions:
            session.cancel()

    def close(self) -> None:
        for session in self.sessions:
            session.close()


def create_index(
    place: str, name: str, table: str, columns: Sequence[str], unique: str
) -> sql.Composed:
    """``CREATE INDEX``; ``unique`` is empty or not."""
    head = "CREATE UNIQUE INDEX {} ON {} ({})" if unique else "CREATE INDEX {} ON {} ({})"
    return sql.SQL(head).format(
        sql.Identifier(name),
        sql.Identifier(place, table),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
    )

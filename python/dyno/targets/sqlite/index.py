"""Runs the steps after a load one after another, with the time and space of each.

SQLite has one writer; it parallelizes the sort of an index over its helper threads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.contracts.target import Progress
from dyno.errors import Interrupted, TargetError
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.ddl import transaction
from dyno.targets.steps import Steps
from dyno.targets.stoppable import stoppable
from dyno.workspace.footprint import Probe

_INTERRUPTED = "Interrupted while adding keys and indexes."


@dataclass(frozen=True)
class Step:
    """A step that completes or has no effect.

    Attributes:
        name: Its name in the record.
        statements: Several statements are a transaction.
        kind: As in ``StepRecord``.
        table: The table that it works on.
        empty: Whether returned rows are errors.
    """

    name: str
    statements: tuple[str, ...]
    kind: str
    table: str | None = None
    empty: bool = False


def run(
    session: SqliteConnection,
    work: Sequence[Step],
    probe: Probe,
    stop: threading.Event,
    progress: Progress,
) -> dict[str, Any]:
    """Runs the steps; returns seconds per step, ``total``, and ``space`` as in the protocol.

    Raises:
        Interrupted: If ``stop`` was set.
        TargetError: The error of SQLite, or a dangling reference.
    """
    # Replacing a referenced table would otherwise count as a violation.
    session.execute("PRAGMA foreign_keys = OFF")
    with Steps(len(work), probe, progress) as steps, stoppable(session, stop, _INTERRUPTED):
        for step in work:
            if stop.is_set():
                raise Interrupted(_INTERRUPTED)
            with steps.step(step.name, step.kind, step.table):
                _do(session, step)
    return steps.done()


def _do(session: SqliteConnection, step: Step) -> None:
    first, *more = step.statements
    if more:
        with transaction(session):
            for statement in step.statements:
                session.execute(statement)
        return
    rows = session.execute(first).rows
    if step.empty and rows:
        raise TargetError(
            f"{len(rows):,} rows of {step.table} violate a foreign key, the first one to "
            f"{rows[0][2]}.",
            kind="database",
        )

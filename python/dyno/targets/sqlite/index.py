"""The steps after a load, one after another, each with its time and the room that it took.

SQLite has one writer; it spreads the sort of an index over its helper threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.errors import Interrupted, TargetError
from dyno.footprint import Meter, Probe, StepRecord
from dyno.targets.base import Progress
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.ddl import transaction
from dyno.targets.stoppable import stoppable

_INTERRUPTED = "Interrupted while adding keys and indexes."


@dataclass(frozen=True)
class Step:
    """One piece of work, done in full or not at all.

    Attributes:
        name: What it is called in the record.
        statements: More than one are a transaction.
        kind: As in ``StepRecord``.
        table: What it works on.
        empty: Whether rows that come of it are faults.
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
    """Runs the steps; returns seconds a step, ``total``, and ``space`` as the protocol says.

    Raises:
        Interrupted: If ``stop`` was set.
        TargetError: What SQLite met, or a reference that leads nowhere.
    """
    seconds: dict[str, Any] = {}
    space: list[dict[str, Any]] = []
    start = time.monotonic()
    # A table that is put into another's place would count as gone from the references to it.
    session.execute("PRAGMA foreign_keys = OFF")
    with Meter() as meter, stoppable(session, stop, _INTERRUPTED):
        for number, step in enumerate(work):
            if stop.is_set():
                raise Interrupted(_INTERRUPTED)
            progress(number, len(work), step.name)
            began = time.monotonic()
            with meter.watching(probe) as peak:
                _do(session, step)
            seconds[step.name] = time.monotonic() - began
            space.append(
                StepRecord(
                    step=step.name,
                    kind=step.kind,
                    seconds=seconds[step.name],
                    table=step.table,
                    extra_peak_bytes=peak.extra,
                    extra_rest_bytes=peak.growth,
                ).record()
            )
    progress(len(work), len(work), "")
    return {**seconds, "total": time.monotonic() - start, "space": space}


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
            f"{len(rows):,} rows of {step.table} refer to no row, the first to {rows[0][2]}.",
            kind="database",
        )

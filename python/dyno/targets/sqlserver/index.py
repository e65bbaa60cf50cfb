"""Keys, indexes and statistics after a load, in parallel sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dyno.contracts.target import Progress
from dyno.targets import indexer
from dyno.targets.sqlserver.connection import Session

Step = indexer.Step[str]
Stage = indexer.Stage[str]
Indexer = indexer.Indexer[Session, str]
StepLog = indexer.StepLog[Session, str]


def open_indexer(
    connect: Callable[[], Session],
    threads: int,
    stop: threading.Event,
    progress: Progress,
    log: StepLog | None = None,
) -> Indexer:
    """Runs steps in parallel (see :class:`dyno.targets.indexer.Indexer`)."""
    return Indexer(connect, _execute, threads, stop, progress, log)


def _execute(session: Session, _step: Step, statement: str) -> None:
    session.execute(statement)

"""What follows a load: statistics, and everything written into the file.

There are no keys and indexes unless a layout asks for them: a column store reads whole columns, for
which they are a burden.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.contracts.target import Progress
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.targets.steps import Steps
from dyno.targets.stoppable import stoppable
from dyno.workspace.footprint import Probe

_INTERRUPTED = "Interrupted while writing the DuckDB file."


@dataclass(frozen=True)
class Step:
    """One statement."""

    name: str
    statement: str
    kind: str
    table: str | None = None


LAST = (Step("analyse", "ANALYZE", "analyse"), Step("checkpoint", "CHECKPOINT", "checkpoint"))


def finish(
    session: DuckdbConnection,
    steps: Sequence[Step],
    probe: Probe,
    stop: threading.Event,
    progress: Progress,
) -> dict[str, Any]:
    """Runs the steps, then those that are always last.

    Returns:
        Seconds a step, ``total``, and ``space`` as the protocol says.

    Raises:
        Interrupted: If ``stop`` was set.
    """
    every = (*steps, *LAST)
    with Steps(len(every), probe, progress) as measured:
        for step in every:
            with (
                measured.step(step.name, step.kind, step.table),
                stoppable(session, stop, _INTERRUPTED),
            ):
                session.execute(step.statement)
    return measured.done()

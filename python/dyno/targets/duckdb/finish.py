"""After a load: gathers statistics and writes everything to the file.

There are no keys and indexes unless a layout adds them, because a column store reads whole columns
and indexes only slow it down.
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
    """A statement."""

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
    """Runs the steps, then the final ones.

    Returns:
        Seconds per step, ``total``, and ``space`` as in the protocol.

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

"""What follows a load: statistics, and everything written into the file.

There are no keys and indexes unless a layout asks for them: a column store reads whole columns, for
which they are a burden.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.footprint import Meter, Probe, StepRecord
from dyno.targets.base import Progress
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.targets.stoppable import stoppable

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
    seconds: dict[str, Any] = {}
    space: list[dict[str, Any]] = []
    start = time.monotonic()
    every = (*steps, *LAST)
    with Meter() as meter:
        for number, step in enumerate(every):
            progress(number, len(every), step.name)
            began = time.monotonic()
            with meter.watching(probe) as peak, stoppable(session, stop, _INTERRUPTED):
                session.execute(step.statement)
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
    progress(len(every), len(every), "")
    return {**seconds, "total": time.monotonic() - start, "space": space}

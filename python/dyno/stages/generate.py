"""Stage: writes the rows of a workload to files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dyno.runtime.engine_calls import run_engine
from dyno.runtime.progress import Progress


@dataclass(frozen=True)
class GeneratePlan:
    """What to write. ``part`` (from 1) restricts the output to one of ``parts``.

    ``folder`` may be a device such as ``/dev/null``: rows are formatted and discarded.
    """

    workload: str
    scale: float
    seed: int
    file_format: str
    folder: Path
    parts: int
    part: int | None
    threads: int
    replace: bool
    days: int | None = None


def generate(plan: GeneratePlan, progress: Progress) -> dict[str, Any]:
    """Writes the files. A file gets its final name only when it is complete.

    Returns:
        ``tables``: one dict per table with ``table``, ``rows``, ``bytes``, ``seconds``, ``files``.

    Raises:
        UsageError: If a file exists and ``replace`` is not set.
        DiskFullError: If the disk is full; the partial file is removed.
    """
    return run_engine(
        "generate",
        {
            "workload": plan.workload,
            "scale": plan.scale,
            "seed": plan.seed,
            "days": plan.days,
            "format": plan.file_format,
            "dir": str(plan.folder),
            "parts": plan.parts,
            "part": plan.part,
            "threads": plan.threads,
            "replace": plan.replace,
        },
        progress,
    )

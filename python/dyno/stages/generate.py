"""Stage: a workload's rows as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dyno.runtime.engine_calls import run_engine
from dyno.runtime.progress import Progress


@dataclass(frozen=True)
class GeneratePlan:
    """What to write. ``part`` (from 1) restricts it to one of ``parts``.

    ``folder`` may be a device such as ``/dev/null``: rows are then formatted and not kept.
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


def generate(plan: GeneratePlan, progress: Progress) -> dict[str, Any]:
    """Writes the files; each appears under its name only when it is whole.

    Returns:
        ``tables``: one dict a table with ``table``, ``rows``, ``bytes``, ``seconds``, ``files``.

    Raises:
        UsageError: If a file is there already and not ``replace``.
        DiskFullError: If the disk fills; the partial file is removed.
    """
    return run_engine(
        "generate",
        {
            "workload": plan.workload,
            "scale": plan.scale,
            "seed": plan.seed,
            "format": plan.file_format,
            "dir": str(plan.folder),
            "parts": plan.parts,
            "part": plan.part,
            "threads": plan.threads,
            "replace": plan.replace,
        },
        progress,
    )

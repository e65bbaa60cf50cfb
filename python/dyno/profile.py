"""Stage: what the storage under a folder gives, before any database is on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dyno.engine import run_engine
from dyno.errors import DiskFullError, UsageError
from dyno.profiles.model import Profile
from dyno.progress import Progress
from dyno.record import Recorder
from dyno.units import bytes_text


@dataclass(frozen=True)
class IoPlan:
    """What to measure of which volume."""

    volume: Path
    profile: Profile
    seed: int = 1


def profile(recorder: Recorder, plan: IoPlan, progress: Progress) -> dict[str, Any]:
    """Profiles the volume and records one line a step as soon as it ends.

    Returns:
        The engine's outcome: ``steps``, ``engine``, ``direct``, ``notes``.

    Raises:
        UsageError: If the volume is no folder.
        DiskFullError: If the test file does not fit.
        TargetError: If the volume cannot be used.
    """
    import shutil

    asked = plan.profile
    if not plan.volume.is_dir():
        raise UsageError(f"{plan.volume} is not a folder; give the folder whose volume to measure.")
    free = shutil.disk_usage(plan.volume).free
    if free < asked.file_bytes * 1.05:
        raise DiskFullError(
            f"The test file needs {bytes_text(asked.file_bytes)} in {plan.volume}, "
            f"{bytes_text(free)} are free; free some or give --size."
        )
    with recorder.phase("io", "Storage profile", "io") as detail:
        detail.update(
            volume=str(plan.volume),
            profile=asked.name,
            file_bytes=asked.file_bytes,
            ceiling_ms=asked.ceiling_ms,
            figures={curve.name: curve.figure for curve in asked.curves},
        )
        outcome = run_engine(
            "profile",
            {
                "targets": [{"directory": str(plan.volume), "bytes": asked.file_bytes}],
                "file_id": recorder.run.run,
                "ceiling_ms": asked.ceiling_ms,
                "seed": plan.seed,
                "clock": recorder.clock.model_dump(),
                "spool": str(recorder.spool("io")),
                "steps": asked.requests(),
            },
            progress,
        )
        detail.update({key: outcome[key] for key in ("engine", "direct", "notes")})
        return outcome

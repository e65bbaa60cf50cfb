"""Stage: what the storage under a folder gives, before any database is on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dyno.engine import run_engine
from dyno.errors import DiskFullError, UsageError
from dyno.progress import Progress
from dyno.record import Recorder
from dyno.units import bytes_text

CEILING_MS = 20.0
_KIB = 1024


@dataclass(frozen=True)
class IoPlan:
    """How a volume is profiled.

    Attributes:
        file_bytes: Size of the test file.
        step_s: Seconds measured at each queue depth, after ``warmup_s``.
        depths: Queue depths of the random curves, rising.
        ceiling_ms: The curves end when p95 of reads or of writes passes it.
    """

    volume: Path
    file_bytes: int
    step_s: float = 2.0
    warmup_s: float = 0.5
    depths: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256)
    sequential_depths: tuple[int, ...] = (1, 4, 16)
    ceiling_ms: float = CEILING_MS
    seed: int = 1

    def curves(self) -> list[dict[str, Any]]:
        """The four curves: sequential 256 KiB read and write, random 8 KiB 100/0 and 70/30."""
        shapes = [
            ("sequential_write", "sequential", 256, 0, self.sequential_depths, False),
            ("sequential_read", "sequential", 256, 100, self.sequential_depths, False),
            ("random_read", "random", 8, 100, self.depths, True),
            ("mixed", "random", 8, 70, self.depths, True),
        ]
        return [
            {
                "name": name,
                "jobs": [
                    {
                        "name": name,
                        "pattern": pattern,
                        "block_bytes": kib * _KIB,
                        "read_percent": reads,
                        "queue_depths": list(depths),
                    }
                ],
                "seconds": self.step_s,
                "warmup_seconds": self.warmup_s,
                "stop_at_ceiling": stop,
            }
            for name, pattern, kib, reads, depths, stop in shapes
        ]


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

    if not plan.volume.is_dir():
        raise UsageError(f"{plan.volume} is not a folder; give the folder whose volume to measure.")
    free = shutil.disk_usage(plan.volume).free
    if free < plan.file_bytes * 1.05:
        raise DiskFullError(
            f"The test file needs {bytes_text(plan.file_bytes)} in {plan.volume}, "
            f"{bytes_text(free)} are free; free some or give --size."
        )
    with recorder.phase("io", "Storage profile", "io") as detail:
        detail.update(
            volume=str(plan.volume), file_bytes=plan.file_bytes, ceiling_ms=plan.ceiling_ms
        )
        outcome = run_engine(
            "profile",
            {
                "targets": [{"directory": str(plan.volume), "bytes": plan.file_bytes}],
                "file_id": recorder.run.run,
                "ceiling_ms": plan.ceiling_ms,
                "seed": plan.seed,
                "clock": recorder.clock.model_dump(),
                "spool": str(recorder.spool("io")),
                "steps": plan.curves(),
            },
            progress,
        )
        detail.update({key: outcome[key] for key in ("engine", "direct", "notes")})
        return outcome

"""A storage profile: curves that differ in pattern, block size and share of reads."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from dyno.errors import UsageError
from dyno.model import Model

Pattern = Literal["random", "sequential"]
Figure = Literal["iops", "mbps"]

WARMUP = 0.25
"""Unmeasured time before a step, as a share of it."""


class Curve(Model):
    """One curve: a step for each queue depth.

    Attributes:
        name: Unique in its profile; it is part of the names of the estimates.
        read_percent: Share of reads.
        depths: I/Os kept in flight, rising.
        until_ceiling: The deeper steps are left out once p95 of reads or of writes is beyond the
            ceiling.
        figure: What the curve is about: the most IOPS inside the ceiling, or the most MB/s.
    """

    name: str
    pattern: Pattern
    block_bytes: int
    read_percent: int
    depths: tuple[int, ...]
    until_ceiling: bool
    figure: Figure


class Profile(Model):
    """What to measure of a volume.

    Attributes:
        source: The file it was read from; ``preset`` for a shipped one.
        file_bytes: Size of the test file.
        step_s: Seconds measured at each depth, after ``warmup_s``.
        ceiling_ms: For p95 of reads and of writes, each on its own.
    """

    name: str
    source: str = "preset"
    file_bytes: int
    step_s: float
    warmup_s: float
    ceiling_ms: float
    curves: tuple[Curve, ...]

    @property
    def steps(self) -> int:
        """How many steps it has, if none is left out."""
        return sum(len(curve.depths) for curve in self.curves)

    @property
    def longest_s(self) -> float:
        """Seconds of all steps, if none is left out; without the time to write the file."""
        return self.steps * (self.step_s + self.warmup_s)

    def fitted(
        self,
        file_bytes: int | None = None,
        step_s: float | None = None,
        ceiling_ms: float | None = None,
    ) -> Profile:
        """The same with another test file, length of a step or ceiling, where they are given.

        Raises:
            UsageError: If the file does not hold the largest block.
        """
        changes: dict[str, float] = {}
        if file_bytes is not None:
            changes["file_bytes"] = file_bytes
        if step_s is not None:
            changes.update(step_s=step_s, warmup_s=step_s * WARMUP)
        if ceiling_ms is not None:
            changes["ceiling_ms"] = ceiling_ms
        fitted = self.model_copy(update=changes)
        largest = max(curve.block_bytes for curve in self.curves)
        if fitted.file_bytes < largest:
            raise UsageError(
                f"A test file of {fitted.file_bytes:,} bytes does not hold the largest block, "
                f"{largest:,} bytes. Give a larger --size."
            )
        return fitted

    def requests(self) -> list[dict[str, Any]]:
        """The curves as the engine takes them."""
        return [
            {
                "name": curve.name,
                "jobs": [
                    {
                        "name": curve.name,
                        "pattern": curve.pattern,
                        "block_bytes": curve.block_bytes,
                        "read_percent": curve.read_percent,
                        "queue_depths": list(curve.depths),
                    }
                ],
                "seconds": self.step_s,
                "warmup_seconds": self.warmup_s,
                "stop_at_ceiling": curve.until_ceiling,
            }
            for curve in self.curves
        ]

    def repeated(self) -> list[str]:
        """Names that more than one curve has."""
        counted = Counter(curve.name for curve in self.curves)
        return [name for name, times in counted.items() if times > 1]

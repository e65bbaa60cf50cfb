"""A storage profile: curves, each with one or several jobs at increasing load."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Literal

from dyno.bundle.model import Model
from dyno.errors import UsageError
from dyno.profiles.job import Job

CurveMetric = Literal["iops", "mbps"]
CeilingOf = Literal["p95", "mean", "p99"]
Pages = Literal["auto", "huge", "ordinary"]

WARMUP = 0.25
"""Warm-up time of a step, as a share of the step."""
RESOLUTION_PERCENT = 5.0
"""Maximum gap between the loads within and above the ceiling at the end of a search."""
CONFIRM = 2
"""Number of further windows that must confirm the result of a search."""


class Search(Model):
    """A search for the load: doubles it until a step exceeds the ceiling, then narrows the range.

    Attributes:
        most: The maximum load: I/Os in flight on a volume, or with a rate IOPS.
        jobs: Names of the jobs to vary; none for all jobs without syncs.
    """

    most: float
    jobs: tuple[str, ...] = ()

    @property
    def windows(self) -> int:
        """Maximum number of windows from a load of 1, without repeats."""
        narrow = math.ceil(math.log2(math.log(2) / math.log1p(RESOLUTION_PERCENT / 100)))
        return 1 + math.ceil(math.log2(max(self.most, 2))) + narrow + CONFIRM


class Settle(Model):
    """Repeats one load until its rate is steady, as in the SNIA performance test.

    Attributes:
        rounds: Number of last rounds that must agree.
        within_percent: Maximum range of these rounds, relative to their mean.
        slope_percent: Maximum slope of the linear fit over these rounds, relative to their mean.
        most: Maximum number of rounds, steady or not.
    """

    rounds: int = 5
    within_percent: float = 20.0
    slope_percent: float = 10.0
    most: int = 60


class Curve(Model):
    """Jobs that run together, at one load level after another.

    Attributes:
        name: Unique in its profile; part of the estimate names.
        until_ceiling: Skip further levels after one exceeds the ceiling.
        metric: The metric of the curve: maximum IOPS within the ceiling, or maximum MB/s.
        search: Search for the load instead of a list.
        settle: Repeat the load until it is steady.
    """

    name: str
    jobs: tuple[Job, ...]
    until_ceiling: bool
    metric: CurveMetric
    search: Search | None = None
    settle: Settle | None = None

    @property
    def steps(self) -> int:
        """Number of steps, if no step is skipped."""
        if self.search is not None:
            return self.search.windows
        if self.settle is not None:
            return self.settle.most
        return max(job.levels for job in self.jobs)

    @property
    def open_loop(self) -> bool:
        """Whether any job has a rate."""
        return any(job.rates for job in self.jobs)

    @property
    def writes(self) -> bool:
        """Whether any job writes."""
        return any(job.writes for job in self.jobs)

    def in_flight_bytes(self) -> int:
        """Buffer size of the deepest level on one volume."""
        deepest = None if self.search is None or self.open_loop else math.ceil(self.search.most)
        return sum(job.in_flight_bytes(deepest) for job in self.jobs)

    def request(self, step_s: float, warmup_s: float) -> dict[str, Any]:
        """Returns the curve in the format of the engine."""
        made: dict[str, Any] = {
            "name": self.name,
            "jobs": [job.request() for job in self.jobs],
            "seconds": step_s,
            "warmup_seconds": warmup_s,
            "stop_at_ceiling": self.until_ceiling,
        }
        if self.search is not None:
            most = self.search.most if self.open_loop else math.floor(self.search.most)
            made["search"] = {
                "most": most,
                "resolution_percent": RESOLUTION_PERCENT,
                "confirm": CONFIRM,
                **({"jobs": list(self.search.jobs)} if self.search.jobs else {}),
            }
        if self.settle is not None:
            made["settle"] = self.settle.model_dump()
        return made


class Profile(Model):
    """The measurements of a volume.

    Attributes:
        source: The source file; ``preset`` for a shipped profile.
        file_bytes: Size of the test file.
        step_s: Measured seconds per level, after ``warmup_s``.
        ceiling_ms: Latency ceiling of reads, writes and syncs, each separately.
        ceiling_of: The latency statistic of the ceiling.
        pages: Memory pages of the buffers; ``auto`` uses huge pages if the system grants them.
            Large blocks in huge pages reach a device in fewer segments and thus faster.
    """

    name: str
    source: str = "preset"
    file_bytes: int
    step_s: float
    warmup_s: float
    ceiling_ms: float
    ceiling_of: CeilingOf = "p95"
    pages: Pages = "auto"
    curves: tuple[Curve, ...]

    @property
    def steps(self) -> int:
        """Number of steps, if no step is skipped."""
        return sum(curve.steps for curve in self.curves)

    @property
    def longest_s(self) -> float:
        """Seconds of all steps, if no step is skipped; excludes the time to write the file."""
        return self.steps * (self.step_s + self.warmup_s)

    @property
    def writes(self) -> bool:
        """Whether any curve writes."""
        return any(curve.writes for curve in self.curves)

    @property
    def largest_block(self) -> int:
        """The largest block size of all curves, in bytes."""
        return max(job.block_bytes for curve in self.curves for job in curve.jobs)

    def fitted(
        self,
        file_bytes: int | None = None,
        step_s: float | None = None,
        ceiling_ms: float | None = None,
        ceiling_of: CeilingOf | None = None,
        pages: Pages | None = None,
    ) -> Profile:
        """Returns the profile with the given test file size, step time, ceiling or pages.

        Raises:
            UsageError: If the file is smaller than the largest block.
        """
        changes: dict[str, Any] = {}
        if file_bytes is not None:
            changes["file_bytes"] = file_bytes
        if step_s is not None:
            changes.update(step_s=step_s, warmup_s=step_s * WARMUP)
        if ceiling_ms is not None:
            changes["ceiling_ms"] = ceiling_ms
        if ceiling_of is not None:
            changes["ceiling_of"] = ceiling_of
        if pages is not None:
            changes["pages"] = pages
        fitted = self.model_copy(update=changes)
        if fitted.file_bytes < self.largest_block:
            raise UsageError(
                f"A test file of {fitted.file_bytes:,} bytes is smaller than the largest block, "
                f"{self.largest_block:,} bytes. Use a larger --size."
            )
        return fitted

    def loaded(self, depths: tuple[int, ...] = (), rates: tuple[float, ...] = ()) -> Profile:
        """Returns the profile with these depths or rates for all jobs; none keeps its own levels.

        Raises:
            UsageError: If several jobs run together. Only the profile can set their loads.
        """
        if not depths and not rates:
            return self
        several = next((curve.name for curve in self.curves if len(curve.jobs) > 1), None)
        if several is not None:
            raise UsageError(
                f"{several} runs several jobs: set their depths and rates in a "
                "profile file, not with --depths or --rate."
            )
        return self.model_copy(
            update={"curves": tuple(_loaded(curve, depths, rates) for curve in self.curves)}
        )

    def requests(self) -> list[dict[str, Any]]:
        """Returns the curves in the format of the engine."""
        return [curve.request(self.step_s, self.warmup_s) for curve in self.curves]

    def repeated(self) -> list[str]:
        """Returns curve names that occur more than once."""
        counted = Counter(curve.name for curve in self.curves)
        return [name for name, times in counted.items() if times > 1]


def _loaded(curve: Curve, depths: tuple[int, ...], rates: tuple[float, ...]) -> Curve:
    (job,) = curve.jobs
    job = job.model_copy(
        update={
            # An open loop needs a depth for its backlog. The exact depth does not matter.
            "depths": depths or ((max(job.depths),) if rates else job.depths),
            "rates": rates or job.rates,
        }
    )
    # An explicit list runs completely.
    return curve.model_copy(update={"jobs": (job,), "search": None, "until_ceiling": False})

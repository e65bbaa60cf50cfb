"""A storage profile: curves, each of one or several jobs at rising load."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Literal

from dyno.bundle.model import Model
from dyno.errors import UsageError
from dyno.profiles.job import Job

Figure = Literal["iops", "mbps"]
CeilingOf = Literal["p95", "mean", "p99"]
Pages = Literal["auto", "huge", "ordinary"]

WARMUP = 0.25
"""Unmeasured time before a step, as a share of it."""
RESOLUTION_PERCENT = 5.0
"""How near to each other a search brings the load inside the ceiling and the one outside."""
CONFIRM = 2
"""Windows more that the load which a search found has to keep the ceiling in."""


class Search(Model):
    """The load is searched: doubled until a step is outside the ceiling, then narrowed.

    Attributes:
        most: The largest load tried: I/Os in flight on a volume, or with a rate I/Os a second.
        jobs: Names of the jobs whose load it is; none for all that do not sync.
    """

    most: float
    jobs: tuple[str, ...] = ()

    @property
    def windows(self) -> int:
        """How many it takes that meets no surprise, at most, from a load of 1."""
        narrow = math.ceil(math.log2(math.log(2) / math.log1p(RESOLUTION_PERCENT / 100)))
        return 1 + math.ceil(math.log2(max(self.most, 2))) + narrow + CONFIRM


class Settle(Model):
    """One load is repeated until its rate is steady, as the SNIA's performance test asks.

    Attributes:
        rounds: The last so many must agree.
        within_percent: How far the best and worst of them may differ, of their mean.
        slope_percent: How much a line through them may rise or fall, of their mean.
        most: Rounds after which it ends, steady or not.
    """

    rounds: int = 5
    within_percent: float = 20.0
    slope_percent: float = 10.0
    most: int = 60


class Curve(Model):
    """Jobs that run together, at one level of load after another.

    Attributes:
        name: Unique in its profile; it is part of the names of the estimates.
        until_ceiling: The levels that follow are left out once one is outside the ceiling.
        figure: What the curve is about: the most IOPS inside the ceiling, or the most MB/s.
        search: The load is searched instead of listed.
        settle: The load is repeated until it is steady.
    """

    name: str
    jobs: tuple[Job, ...]
    until_ceiling: bool
    figure: Figure
    search: Search | None = None
    settle: Settle | None = None

    @property
    def steps(self) -> int:
        """How many steps it takes, if none is left out."""
        if self.search is not None:
            return self.search.windows
        if self.settle is not None:
            return self.settle.most
        return max(job.levels for job in self.jobs)

    @property
    def open_loop(self) -> bool:
        """Whether any of its jobs has a rate."""
        return any(job.rates for job in self.jobs)

    @property
    def writes(self) -> bool:
        """Whether any of its jobs writes."""
        return any(job.writes for job in self.jobs)

    def in_flight_bytes(self) -> int:
        """Buffers of its deepest level on one volume."""
        deepest = None if self.search is None or self.open_loop else math.ceil(self.search.most)
        return sum(job.in_flight_bytes(deepest) for job in self.jobs)

    def request(self, step_s: float, warmup_s: float) -> dict[str, Any]:
        """The curve as the engine takes it."""
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
    """What to measure of a volume.

    Attributes:
        source: The file it was read from; ``preset`` for a shipped one.
        file_bytes: Size of the test file.
        step_s: Seconds measured at each level, after ``warmup_s``.
        ceiling_ms: For reads, writes and syncs, each on its own.
        ceiling_of: The figure of their latency that it is for.
        pages: Of memory, that the buffers are in; ``auto`` for huge ones where the system grants
            them. Large blocks in huge ones reach a device in few pieces, and so much faster.
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
        """How many steps it has, if none is left out."""
        return sum(curve.steps for curve in self.curves)

    @property
    def longest_s(self) -> float:
        """Seconds of all steps, if none is left out; without the time to write the file."""
        return self.steps * (self.step_s + self.warmup_s)

    @property
    def writes(self) -> bool:
        """Whether any curve writes."""
        return any(curve.writes for curve in self.curves)

    @property
    def largest_block(self) -> int:
        """The largest block of all, bytes."""
        return max(job.block_bytes for curve in self.curves for job in curve.jobs)

    def fitted(
        self,
        file_bytes: int | None = None,
        step_s: float | None = None,
        ceiling_ms: float | None = None,
        ceiling_of: CeilingOf | None = None,
        pages: Pages | None = None,
    ) -> Profile:
        """The same with another test file, length of a step, ceiling or pages, where given.

        Raises:
            UsageError: If the file does not hold the largest block.
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
        """The same with other levels: of all jobs these depths, or these rates; none for its own.

        Raises:
            UsageError: If several jobs run together, whose loads only the profile can give.
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
        """The curves as the engine takes them."""
        return [curve.request(self.step_s, self.warmup_s) for curve in self.curves]

    def repeated(self) -> list[str]:
        """Names that more than one curve has."""
        counted = Counter(curve.name for curve in self.curves)
        return [name for name, times in counted.items() if times > 1]


def _loaded(curve: Curve, depths: tuple[int, ...], rates: tuple[float, ...]) -> Curve:
    (job,) = curve.jobs
    job = job.model_copy(
        update={
            # An open loop needs room for what piles up; how deep is not what is asked about.
            "depths": depths or ((max(job.depths),) if rates else job.depths),
            "rates": rates or job.rates,
        }
    )
    # A list that was asked for is run whole.
    return curve.model_copy(update={"jobs": (job,), "search": None, "until_ceiling": False})

"""Plans of the decision-support tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self

from dyno.bundle.phases.dss import DssDetail
from dyno.contracts.databases import name
from dyno.contracts.meter import Metering
from dyno.contracts.target import Connection

Parameters = Literal["validation", "seeded"]


@dataclass(frozen=True)
class DssPlan:
    """Options common to all tests.

    Attributes:
        timeout_s: Timeout of a query or refresh function. On timeout it is cancelled and recorded
            as an error.
        parameters: ``validation`` uses the fixed parameters with published answers; ``seeded``
            draws random ones.
        seed: Stream s uses the seed ``seed + s``, as TPC-H requires.
        refresh: Whether the refresh functions run.
        first_set: The update set of pair 0. Further pairs use the next sets.
        cache: Cache state at the first measured query: ``warm``, ``first`` (unchanged), ``cold``,
            ``cold-each-query``, or ``after-power`` (as the power test left it).
        metering: Queries for which the engine counts bytes and memory.
        database: The number of the database, if there are several.
        streams_before: Streams of the databases before this one; stream numbers continue, so that
            all streams of a run draw different parameters.
    """

    workload: str
    scale: float
    timeout_s: float = 600.0
    parameters: Parameters = "validation"
    seed: int = 1
    refresh: bool = False
    first_set: int = 0
    cache: str = "first"
    metering: Metering = "untimed"
    database: int | None = None
    streams_before: int = 0

    @property
    def is_cold(self) -> bool:
        """Whether the caches are empty before the first query, or before each."""
        return self.cache.startswith("cold")

    def base_detail(self) -> partial[DssDetail]:
        """Returns the phase detail known at the start of a test."""
        return partial(
            DssDetail,
            workload=self.workload,
            scale=self.scale,
            parameters=self.parameters,
            seed=self.seed,
            refresh=self.refresh,
            first_set=self.first_set if self.refresh else None,
            cache=self.cache,
            timeout_s=self.timeout_s,
            metering=self.metering,
        )


@dataclass(frozen=True)
class PowerPlan(DssPlan):
    """The power test.

    Attributes:
        stream: Stream that defines the query order; 0 is the order of the power test.
        warm: Run every query once before, with validation parameters. The results ignore this pass.
        before_query: Called before each query of the measured pass, outside the measured time.
            Returns the connection to use next. A cold start before each query uses it.
    """

    stream: int = 0
    warm: bool = True
    before_query: Callable[[Connection], Connection] | None = None

    @property
    def fixed(self) -> bool:
        """Whether the measured pass has expected answers.

        It has none with refresh functions: they add and remove orders before the queries run.
        """
        return self.parameters == "validation" and not self.refresh

    @property
    def proves(self) -> bool:
        """Whether the warm-up pass or the measured pass has expected answers."""
        return self.warm or self.fixed

    def base_detail(self) -> partial[DssDetail]:
        """Returns the phase detail known at the start."""
        cache = "warm" if self.warm else self.cache
        return partial(
            super().base_detail(), test="power", cache=cache, stream=self.stream, warm=self.warm
        )


@dataclass(frozen=True)
class StreamedPlan(DssPlan):
    """Concurrent query streams, in one database or in several at once.

    Attributes:
        streams: Number of query streams per database, each with its own session and query order.
        first_sets: For each of several databases its ``first_set``; empty for a single database.
    """

    streams: int = 2
    first_sets: tuple[int, ...] = ()

    @property
    def parts(self) -> list[Self]:
        """The test of each database; the test itself for a single one."""
        return [
            replace(
                self,
                workload=name(self.workload, number),
                first_set=first,
                first_sets=(),
                database=number,
                streams_before=(number - 1) * self.streams,
            )
            for number, first in enumerate(self.first_sets, 1)
        ] or [self]

    @property
    def total(self) -> int:
        """Query streams of all databases."""
        return len(self.parts) * self.streams

    def base_detail(self) -> partial[DssDetail]:
        """Returns the phase detail known at the start."""
        several = {"streams_each": self.streams, "databases": len(self.first_sets)}
        given = several if self.first_sets else {}
        return partial(super().base_detail(), streams=self.total, **given)


@dataclass(frozen=True)
class ThroughputPlan(StreamedPlan):
    """The throughput test.

    With ``refresh``, one more stream per database runs as many refresh pairs as it has streams.
    """

    def base_detail(self) -> partial[DssDetail]:
        """Returns the phase detail known at the start."""
        return partial(super().base_detail(), test="throughput")

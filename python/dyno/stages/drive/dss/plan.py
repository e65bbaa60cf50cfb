"""How the decision-support tests run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from dyno.bundle.phases.dss import DssDetail
from dyno.contracts.meter import Metering
from dyno.contracts.target import Connection

Parameters = Literal["validation", "seeded"]


@dataclass(frozen=True)
class DssPlan:
    """What the tests have in common.

    Attributes:
        timeout_s: A query or refresh function that takes longer is cancelled and recorded as an
            error.
        parameters: ``validation`` gives every query the fixed parameters that answers are
            published for; ``seeded`` draws them.
        seed: Stream s draws from ``seed + s``, as TPC-H wants it.
        refresh: Whether the refresh functions run.
        first_set: The update set of pair 0; those of the next pairs follow.
        cache: What the caches held when the first query was measured: ``warm``, ``first`` (as they
            were found), ``cold``, ``cold-each-query``, or ``after-power`` (as the power test left
            them).
        metering: Which queries the engine counts bytes and memory for.
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

    def told(self) -> partial[DssDetail]:
        """What the phase of a test tells of it from the start."""
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
        stream: Whose order of queries to use; 0 is the power test's.
        warm: Run every query once before, with validation parameters, unrecorded in the figures.
        before_query: Called before each query of the measured pass, off the clock; gives the
            connection to go on with. For a cold start of each query.
    """

    stream: int = 0
    warm: bool = True
    before_query: Callable[[Connection], Connection] | None = None

    @property
    def fixed(self) -> bool:
        """Whether the measured pass asks what there are expected answers to.

        Not with the refresh functions: it then runs on data with new orders, and without some.
        """
        return self.parameters == "validation" and not self.refresh

    @property
    def proves(self) -> bool:
        """Whether some pass does, the warming or the measured one."""
        return self.warm or self.fixed

    def told(self) -> partial[DssDetail]:
        """What its phase tells from the start."""
        cache = "warm" if self.warm else self.cache
        return partial(
            super().told(), test="power", cache=cache, stream=self.stream, warm=self.warm
        )


@dataclass(frozen=True)
class ThroughputPlan(DssPlan):
    """The throughput test.

    Attributes:
        streams: Query streams, each a user with a session and an order of its own; with
            ``refresh`` one more stream runs as many pairs of refresh functions.
    """

    streams: int = 2

    def told(self) -> partial[DssDetail]:
        """What its phase tells from the start."""
        return partial(super().told(), test="throughput", streams=self.streams)

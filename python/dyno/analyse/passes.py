"""The mean time of each query, and the time of a pass of a stream.

Rates of the queries that happened to end in two periods compare different queries. A pass has each
query as often as a stream does, so the times of two periods compare the same work.
"""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from dyno import workloads


def weights(workload: str | None) -> dict[str, int]:
    """How often a stream of this workload runs each query; empty if it is not installed."""
    found = workloads.known(workload) if workload else None
    return {} if found is None else {query.name: query.weight for query in found.queries}


_Q = TypeVar("_Q", bound=Hashable)


def means(taken: Iterable[tuple[_Q, float]]) -> dict[_Q, float]:
    """Mean seconds of each query, from query and seconds of each execution."""
    by_query: dict[_Q, list[float]] = {}
    for query, seconds in taken:
        by_query.setdefault(query, []).append(seconds)
    return {query: statistics.fmean(values) for query, values in by_query.items()}


def pass_of(usual: Mapping[str, float], weight: Mapping[str, int]) -> tuple[int, float]:
    """Queries of a pass over those of ``usual``, and its seconds."""
    count = sum(weight.get(query, 1) for query in usual)
    return count, sum(weight.get(query, 1) * seconds for query, seconds in usual.items())

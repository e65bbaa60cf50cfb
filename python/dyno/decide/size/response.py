"""Response times of a server at a load: as measured, plus the queueing that the load adds.

The time of a transaction is what levels measured less their modelled waits, plus the waits at the
new load: M/M/c for the CPUs, and M/M/1 for the storage by its share of the profiled IOPS, with the
service time that its measured waits imply. The rest is at least the CPU time: near saturation, the
models of open systems give longer waits than users who wait for each other can have. Users who
think are a closed network, solved by exact MVA. The 95th percentile keeps its measured ratio to the
mean. Neither the rest nor the ratio falls with the load, so more servers never look slower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dyno.decide.size.evidence import Load
from dyno.statistics.paired import Floats
from dyno.statistics.queueing import Station, mva, wait

MOST_CLOSED = 2000
"""The most users of a server that are solved as a closed network; more are an open one."""

_MOST_USED = 0.95
"""The highest share of the storage in use from which its service time is inferred."""
_CELLS = 4e7
"""Draws times users times CPUs of a closed network; the draws are thinned to it."""
_MOST_LOG = 20.0
"""Logarithm to base 2 of the most servers, and of the smallest share of one."""
_STEPS = 40


@dataclass(frozen=True)
class Times:
    """Response times of a server, with one CPU and storage demand per draw.

    Attributes:
        loads: The measured levels.
        cpus: CPUs of the server.
        cpu_s: CPU time of a transaction.
        storage_s: Time that the storage works on a transaction, without queues: data reads and
            the write of the log.
        busy_s: Share of a server's storage that a transaction per second uses.
    """

    loads: tuple[Load, ...]
    cpus: int
    cpu_s: Floats
    storage_s: float
    busy_s: Floats

    def mean_ms(self, tps: Floats | float, used: Floats | float | None = None) -> Floats:
        """The mean of all operations at ``tps`` on a server; infinite at saturation.

        Args:
            tps: Transactions per second on a server.
            used: Share of the storage in use; None: of as much storage as was measured.
        """
        rest = self._rest_ms(np.asarray(tps, float))
        return 1000 * self._waits(tps, tps * self.busy_s if used is None else used) + rest

    def closed_ms(self, users: int, think_s: float, tps: float, used: Floats) -> Floats:
        """The mean with ``users`` on a server who think for ``think_s``, about ``tps``.

        The draws are thinned if there are many users. Storage waits are those of ``used``.
        """
        if users > MOST_CLOSED:
            return self.mean_ms(tps, used)
        few = max(1, math.ceil(len(self.cpu_s) * users * self.cpus / _CELLS))
        demand, waits = self.cpu_s[::few], self._stored(used)[::few]
        # The CPU time itself is part of the measured times, so only its queue is added.
        rest_s = np.maximum(self._rest_ms(np.asarray(tps)) / 1000 - demand, 0.0) + waits
        solved = mva([Station(demand, self.cpus)], max(1, users), think_s + rest_s)
        return 1000 * (solved.response + rest_s)

    def p95_ms(self, mean_ms: Floats, tps: Floats | float) -> Floats:
        """The 95th percentile of the main operation for a mean of all operations."""
        return mean_ms * ratio(self.loads, tps, [one.tps for one in self.loads])

    def _rest_ms(self, tps: Floats) -> Floats:
        """What the model does not explain of the measured means, at the nearest loads."""
        demand, busy = np.median(self.cpu_s), np.median(self.busy_s)
        rest: list[float] = []
        for load in self.loads:  # on the CPUs that they had
            waits_s = wait(max(1, round(load.cpus)), load.tps, demand)
            waits_s = waits_s + self._stored(_used(load, float(busy)))
            least = min(load.mean_ms, 1000 * float(demand))
            rest.append(max(least, load.mean_ms - 1000 * float(waits_s)))
        rising = np.maximum.accumulate(rest)
        return np.interp(tps, [load.tps for load in self.loads], rising)

    def _waits(self, tps: Floats | float, used: Floats | float) -> Floats:
        return wait(self.cpus, tps, self.cpu_s) + self._stored(used)

    def _stored(self, used: Floats | float) -> Floats:
        """The wait for the storage: M/M/1."""
        used = np.asarray(used, float)
        if self.storage_s == 0:
            return np.zeros_like(used)
        with np.errstate(divide="ignore", invalid="ignore"):
            waits = self.storage_s * used / (1 - used)
        return np.where(used < 1, waits, np.inf)


def ratio(loads: Sequence[Load], at: Floats | float, places: Sequence[float]) -> Floats:
    """The 95th percentile over the mean, at a load, from levels at ascending ``places``."""
    found = np.maximum.accumulate([one.p95_ms / one.mean_ms for one in loads])
    return np.asarray(np.interp(at, places, found))


def times(loads: Sequence[Load], cpus: float, cpu_s: Floats, busy_s: Floats) -> Times:
    """The times of a server, from levels in ascending order of throughput."""
    ordered = tuple(sorted(loads, key=lambda one: one.tps))
    waits = [
        ((one.ios or 0) * (one.reads or 0) * (one.read_ms or 0) + (one.log_ms or 0)) / 1000
        for one in ordered
    ]
    busy = float(np.median(busy_s))
    services = [
        min(wait_s, one.mean_ms / 1000) * (1 - _used(one, busy))
        for wait_s, one in zip(waits, ordered, strict=True)
    ]
    return Times(ordered, max(1, round(cpus)), cpu_s, float(np.median(services)), busy_s)


def _used(load: Load, busy_s: float) -> float:
    """Share of the storage that a level used."""
    return min(load.tps * busy_s / max(1, load.devices), _MOST_USED)


def fewest(response_ms: Callable[[Floats], Floats], limit_ms: float, draws: int) -> Floats:
    """The fewest servers, per draw and before rounding up, with a response time within a limit.

    Args:
        response_ms: The time, per draw, with a number of servers per draw; falling in it.
        limit_ms: The limit.
        draws: Number of draws.

    Returns:
        Infinite where no number of servers is enough.
    """
    low, high = np.full(draws, -_MOST_LOG), np.full(draws, _MOST_LOG)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        enough = response_ms(np.exp2(middle)) <= limit_ms
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(response_ms(np.exp2(high)) <= limit_ms, np.exp2(high), np.inf)

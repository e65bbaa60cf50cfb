"""Queues: M/M/c, and exact mean value analysis (MVA) of closed networks.

M/M/c: Erlang's C by the recursion of Erlang's B (Kleinrock, Queueing Systems 1, 1975). MVA: Reiser
and Lavenberg, Mean-Value Analysis of Closed Multichain Queuing Networks, J. ACM 27 (1980), with
marginal probabilities for stations of several servers. All functions take arrays, element by
element, so one call handles all draws of a bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dyno.statistics.paired import Floats

MOST_SERVERS = 4096


def erlang_c(servers: int, load: Floats | float) -> Floats:
    """The probability that an arrival waits; 1 where ``load`` is at least ``servers``.

    Args:
        servers: c, 1 to 4096.
        load: Offered load a = λ/μ, not negative.

    Raises:
        ValueError: If ``servers`` is out of range.
    """
    if not 1 <= servers <= MOST_SERVERS:
        raise ValueError(f"a queue has 1 to {MOST_SERVERS} servers, not {servers}")
    a = np.asarray(load, float)
    blocked = np.ones_like(a)
    for k in range(1, servers + 1):
        blocked = a * blocked / (k + a * blocked)
    busy = np.minimum(a / servers, 1.0)
    return np.where(a >= servers, 1.0, blocked / (1 - busy * (1 - blocked)))


def wait(servers: int, rate: Floats | float, service: Floats | float) -> Floats:
    """Mean wait before service in M/M/c: Wq = C / (cμ − λ); infinite without capacity left.

    Args:
        servers: c.
        rate: λ, per time unit.
        service: 1/μ, in the same time unit.
    """
    rate, service = np.asarray(rate, float), np.asarray(service, float)
    load = rate * service
    left = servers - load
    with np.errstate(divide="ignore", invalid="ignore"):
        waited = erlang_c(servers, load) * service / left
    return np.where(left > 0, waited, np.inf)


def wait_quantile(
    servers: int, rate: Floats | float, service: Floats | float, quantile: float
) -> Floats:
    """The quantile of the wait in M/M/c, from P(Wq > t) = C·e^−(cμ−λ)t; infinite at saturation."""
    rate, service = np.asarray(rate, float), np.asarray(service, float)
    load = rate * service
    left = servers - load
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(erlang_c(servers, load) / (1 - quantile)) * service / left
    return np.where(left > 0, np.maximum(found, 0.0), np.inf)


@dataclass(frozen=True)
class Station:
    """A station of a closed network.

    Attributes:
        demand: Service demand of a customer, s; a number or one per draw.
        servers: Servers with a common queue.
    """

    demand: Floats | float
    servers: int = 1


@dataclass(frozen=True)
class Solved:
    """A solved closed network: customers per second, and their time in it without thinking, s."""

    throughput: Floats
    response: Floats


def mva(stations: Sequence[Station], customers: int, delay: Floats | float = 0.0) -> Solved:
    """Solves a closed network of one class exactly, with O(customers × servers) steps.

    Rounding can make the probability of an idle station of several servers slightly negative near
    saturation; it is then zero.

    Args:
        stations: Stations that queue.
        customers: At least 1.
        delay: Time per cycle that never queues, such as think time, s.

    Raises:
        ValueError: Without customers or stations.
    """
    if customers < 1 or not stations:
        raise ValueError("a closed network takes a customer and a station")
    demands = [np.asarray(one.demand, float) for one in stations]
    shape = np.broadcast_shapes(*(one.shape for one in demands), np.shape(delay))
    queues = [np.zeros(shape) for _ in stations]
    # idle[k][j]: probability that j servers of station k are busy, j below its number of servers
    idle = [[np.ones(shape)] + [np.zeros(shape)] * (one.servers - 1) for one in stations]
    throughput = response = np.zeros(shape)
    for n in range(1, customers + 1):
        times: list[Floats] = []
        for one, demand, queue, p in zip(stations, demands, queues, idle, strict=True):
            free = sum(
                ((one.servers - 1 - j) * p[j] for j in range(one.servers - 1)), np.zeros(shape)
            )
            times.append(demand / one.servers * (1 + queue + free))
        response = sum(times, np.zeros(shape))
        throughput = n / (response + delay)
        queues = [throughput * time for time in times]
        idle = [
            _busy(one.servers, throughput * demand, p)
            for one, demand, p in zip(stations, demands, idle, strict=True)
        ]
    return Solved(throughput, response)


def _busy(servers: int, load: Floats, before: list[Floats]) -> list[Floats]:
    """Probabilities of 0 … servers − 1 busy servers with one customer more."""
    if servers == 1:
        return before  # a single server needs none
    some = [load / j * before[j - 1] for j in range(1, servers)]
    weighted = sum(
        ((servers - j) * one for j, one in enumerate(some, start=1)), np.zeros_like(load)
    )
    return [np.maximum(1 - (load + weighted) / servers, 0.0), *some]

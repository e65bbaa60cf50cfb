"""Servers: by CPU, by response times, and by the load that a search found within limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dyno.decide.size.count import Need, need
from dyno.decide.size.demand import Decisions, Transactions
from dyno.decide.size.evidence import Evidence
from dyno.decide.size.inputs import Inputs
from dyno.decide.size.lot import Lot, Spread, spread
from dyno.decide.size.response import Times, fewest, ratio
from dyno.decide.size.wants import Wants
from dyno.errors import UsageError
from dyno.statistics.paired import Floats

CPU = 0.8
"""Largest CPU utilisation, as published."""


RESPONSES = ("response p95", "response mean")
"""Names of the needs that response limits have."""


@dataclass(frozen=True)
class Server:
    """A server as sizing counts it.

    Attributes:
        cpus: Its CPUs.
        cpu: Largest share of them that work.
    """

    cpus: float
    cpu: float


def server(
    wants: Wants,
    work: Transactions | None,
    queries: Decisions | None,
    inputs: Inputs,
) -> Server:
    """The server that was measured; one CPU if its machine was not sampled."""
    top = work.top if work is not None else queries.top if queries is not None else None
    if top is not None and top.cpu_s is None:
        top = None
    cpus = 1.0 if top is None else inputs.add("CPUs of a server", top.cpus, "CPUs", top.source)
    headroom = CPU if wants.cpu is None else wants.cpu
    if wants.cpu is None and top is not None:
        inputs.assumed("CPU utilisation", CPU, "", "headroom, as published")
    return Server(cpus, headroom)


def cpu_need(made: Server, work: Transactions | None, queries: Decisions | None) -> Need | None:
    """Servers by CPU time; None if it is unknown."""
    demands: list[Floats] = []
    if work is not None and work.cpu_s is not None:
        demands.append(work.tps * work.cpu_s)
    if queries is not None and queries.cpu_s is not None:
        demands.append(queries.per_h / 3600 * queries.cpu_s)
    return need("CPU", np.sum(demands, axis=0), made.cpus * made.cpu) if demands else None


def search_needs(found: Evidence, work: Transactions, lot: Lot, inputs: Inputs) -> list[Need]:
    """Servers by the largest load that searches found within limits, on the target of ``work``."""
    own = [one for one in found.found if one.target == work.top.target]
    if not own:
        return []
    best = max(own, key=lambda one: one.tps)
    noise = (best.high - best.low) / 2 / best.tps or None
    drawn = inputs.drawn(
        "load within limits",
        lot.sample([best.tps], noise, 10),
        "1/s",
        f"{best.run} capacity.tps ({best.limits})",
        best.tps,
    )
    return [need("limits of the search", work.tps, drawn)]


@dataclass(frozen=True)
class Responses:
    """Response times of the transactions on a number of servers.

    Attributes:
        work: The transactions.
        times: The model of a server; None for users who never think.
        used: Share of all storage in use, per draw.
    """

    work: Transactions
    times: Times | None
    used: Floats

    def mean_ms(self, servers: Floats) -> Floats:
        """The mean of all operations."""
        if self.times is not None:
            return self.times.mean_ms(self.work.tps / servers, self.used)
        each = self._each(servers)
        assert self.work.growth is not None  # noqa: S101 - without times there is a curve
        return 1000 * each / self.work.growth.at(each)

    def p95_ms(self, servers: Floats) -> Floats:
        """The 95th percentile of the main operation: the mean at its measured ratio."""
        return self._p95(self.mean_ms(servers), servers)

    def at(self, servers: int) -> tuple[Spread, Spread]:
        """Mean and 95th percentile with so many servers; users who think by exact MVA."""
        whole = np.full_like(self.work.tps, servers)
        mean = self.mean_ms(whole)
        if self.times is not None and self.work.think_s is not None and self.work.users:
            each = max(1, round(self.work.users / servers))
            tps = float(np.median(self.work.tps)) / servers
            mean = self.times.closed_ms(each, self.work.think_s, tps, self.used)
            return spread(mean), spread(self._p95(mean, whole[: len(mean)]))
        return spread(mean), spread(self._p95(mean, whole))

    def _each(self, servers: Floats) -> Floats:
        return np.maximum(1.0, (self.work.users or 1.0) / servers)

    def _p95(self, mean: Floats, servers: Floats) -> Floats:
        if self.times is not None:
            return self.times.p95_ms(mean, self.work.tps[: len(mean)] / servers)
        loads = sorted(self.work.loads, key=lambda one: one.users)
        return mean * ratio(loads, self._each(servers), [one.users for one in loads])


def response_needs(found: Responses, wants: Wants) -> list[Need]:
    """Servers by the response limits; infinite where no number of them meets a limit."""
    needed: list[Need] = []
    limits: tuple[tuple[str, float | None, Callable[[Floats], Floats]], ...] = (
        (RESPONSES[0], wants.p95_ms, found.p95_ms),
        (RESPONSES[1], wants.mean_ms, found.mean_ms),
    )
    for name, limit, response in limits:
        if limit is None:
            continue
        servers = fewest(response, limit, len(found.work.tps))
        needed.append(Need(name, servers))
    return needed


def require_reachable(needed: Sequence[Need]) -> None:
    """Refuses a limit that no number of servers meets.

    Raises:
        UsageError: With the name of the limit.
    """
    for one in needed:
        if not np.isfinite(spread(one.drawn).high):
            raise UsageError(
                f"The limit of the {one.resource} cannot hold with any number of servers: an idle "
                "one is not that fast in 95 of 100 draws. Allow more, or measure a faster server."
            )

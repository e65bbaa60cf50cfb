"""The search on queues whose maximum is known in closed form: the answer is within 5 %.

Windows are simulated arrival by arrival and judged as those of a run: p95 of the response time
against the limit, steadiness by MSER-5 and by the slope, and what was not steady again, longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize, stats

from dyno.decide.findmax import Range, Trial, found, next_step, unsteady
from dyno.statistics.steady import mser5, trend

SERVICE_S = 0.01
INTERVALS = 60

Window = Callable[[float, float, int], Trial]
"""A window at a load, so many times as long as usual, by its seed."""


def search(where: Range, window: Window, seed: int) -> list[Trial]:
    trials: list[Trial] = []
    while (step := next_step(trials, where, 60 - len(trials))) is not None:
        longer = 2 ** unsteady(trials, step.load)
        trials.append(window(step.load, longer, 1000 * seed + len(trials)))
    return trials


def judged(load: float, ends: np.ndarray, p95: float, limit: float, seconds: float) -> Trial:
    """A window whose transactions ended at these seconds of it."""
    counts, _ = np.histogram(ends, bins=INTERVALS, range=(0, seconds))
    cut, line = mser5(counts.tolist()), trend(counts.tolist())
    settled = cut is not None and cut.discard_percent <= 50
    slopes = line is not None and not line.low <= 0 <= line.high and abs(line.percent) > 30
    return Trial(load, p95 < limit, steady=settled and not slopes)


def one_server(limit: float) -> Window:
    """M/M/1 in an open loop: Lindley's recursion, W₍ₙ₊₁₎ = max(0, Wₙ + Sₙ − Aₙ)."""

    def window(rate: float, longer: float, seed: int) -> Trial:
        draw = np.random.default_rng(seed)
        # A quarter of it is a warm-up from an empty queue.
        count = round(40_000 * longer)
        gaps, services = draw.exponential(1 / rate, count), draw.exponential(SERVICE_S, count)
        steps = np.concatenate([[0.0], np.cumsum(services[:-1] - gaps[1:])])
        waits = steps - np.minimum.accumulate(steps)
        arrivals = np.cumsum(gaps)
        start, end = arrivals[count // 4], arrivals[-1]
        response = waits + services
        ends = arrivals + response
        inside = (ends >= start) & (ends < end)
        p95 = float(np.quantile(response[inside], 0.95))
        return judged(rate, ends[inside] - start, p95, limit, end - start)

    return window


def users(limit: float, servers: int) -> Window:
    """N users without pauses at c exponential servers: each waits for the others' turns."""

    def window(load: float, longer: float, seed: int) -> Trial:
        draw = np.random.default_rng(seed)
        count = round(20_000 * longer)
        services = draw.exponential(SERVICE_S, count)
        free = np.zeros(servers)
        sent, ends = np.zeros(round(load)), np.zeros(count)
        response = np.zeros(count)
        for place in range(count):
            # In order of arrival: the user who was answered first asks again first.
            user, server = int(np.argmin(sent)), int(np.argmin(free))
            begin = max(sent[user], free[server])
            free[server] = ends[place] = begin + services[place]
            response[place] = ends[place] - sent[user]
            sent[user] = ends[place]
        start, end = ends[count // 4], float(np.max(ends))
        inside = (ends >= start) & (ends < end)
        p95 = float(np.quantile(response[inside], 0.95))
        return judged(load, ends[inside] - start, p95, limit, end - start)

    return window


@pytest.mark.parametrize("limit", [0.05, 0.12])
@pytest.mark.parametrize("seed", range(3))
def test_the_highest_rate_of_one_server(limit: float, seed: int) -> None:
    """p95 of M/M/1 is ln 20 / (μ − λ), so that the most is λ = μ − ln 20 / limit."""
    most = 1 / SERVICE_S - math.log(20) / limit
    trials = search(Range("rate", 1.0, 1e6), one_server(limit), seed)
    known = found(trials)
    assert known.confirmed
    assert known.best == pytest.approx(most, rel=0.05)


@pytest.mark.parametrize(("limit", "servers"), [(0.2, 1), (0.15, 2)])
def test_the_most_users_of_some_servers(limit: float, servers: int) -> None:
    """A user waits for N − c others at the rate c·μ, then for itself: exact for one server."""

    def p95(load: float) -> float:
        if servers == 1:
            return float(stats.gamma.ppf(0.95, load, scale=SERVICE_S))
        # Queue and own service are independent: N − c + 1 stages, but for the last at the rate μ.
        draw = np.random.default_rng(5)
        queue = draw.gamma(max(0.0, load - servers), SERVICE_S / servers, 400_000)
        return float(np.quantile(queue + draw.exponential(SERVICE_S, 400_000), 0.95))

    most = float(optimize.brentq(lambda load: p95(load) - limit, servers + 0.5, 100))
    trials = search(Range("users", 1.0, 1024.0), users(limit, servers), 1)
    known = found(trials)
    assert known.confirmed
    # Users are whole: the largest number below.
    assert known.best is not None
    assert abs(known.best - math.floor(most)) <= max(1.0, 0.05 * most)
    assert known.failing is not None and known.failing > most * 0.95

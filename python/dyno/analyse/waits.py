"""Minimum waiting time of requests during a silence.

Histograms contain completed operations. In a closed loop a user waits for the response, so a
silence of any length adds one value per user; operations still pending at the end of the window
add none. A server that stalls for ten seconds of a minute would pass any percentile limit. This
is coordinated omission.

A silence therefore counts separately: a request that arrives t seconds before its end waits at
least t seconds. Over the window this gives a distribution over time: each moment of a silence has
the remaining silence as its wait, and every other moment has a wait of zero. In an open loop,
moments are weighted by the starts due in them; in a closed loop, by their length. The percentiles
and the mean are a lower bound of what an open loop would have measured (the "virtual wait" of
queueing theory). A criterion takes the larger of the wait and the measured latency. They are never
added, so nothing counts twice.

An interval is silent if nothing completed in it, successful or not, although operations were due.
Users without think time always have operations due. For users with think time, and for a schedule,
the number of expected operations must be large enough to rule out chance. The silence must also be
longer than the slowest operation usually takes (p95 of its service time): a single user is silent
during its own long transaction. That says nothing about the wait of another user, and has a metric
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dyno.analyse.level import Level
from dyno.bundle.histograms import Latencies
from dyno.bundle.stalls import FEWEST_EXPECTED, stretches
from dyno.bundle.tables import counts
from dyno.criteria.base import QUANTILES

_HALVINGS = 50


@dataclass(frozen=True)
class Waits:
    """The waits of a level. Times are seconds from the start of its measurement window."""

    level: Level

    @cached_property
    def silences(self) -> Sequence[tuple[float, float]]:
        """Start and end of each silence."""
        rates = self.level.rates
        step = rates.interval_s
        ended = [0.0] * len(rates.values)
        for row in self.level.rows:
            place = round((row["t_ns"] - rates.start_ns) / (step * 1e9))
            if place < len(ended):
                done = row["done"] + row["rolled_back"]
                ended[place] += done + sum(counts(row["errors"]).values())
        found = [(first * step, (first + count) * step) for first, count in stretches(ended)]
        mean = sum(ended) / (len(ended) * step)
        wanted = [one for one in found if self._is_wanted(*one, mean)]
        ordinary_s = self._ordinary_s() if wanted else 0.0
        return [(start, end) for start, end in wanted if end - start > ordinary_s]

    @property
    def silent_s(self) -> float:
        """Total length of the silences, without intervals in which nothing was due."""
        return sum(end - start for start, end, _ in self._intervals)

    def window_ms(self, stat: str) -> float | None:
        """A statistic of the waits over the window; None without a silence."""
        if not self.silences:
            return None
        longest = max(end - start for start, end in self.silences)
        if stat == "max":
            return longest * 1e3
        rates = self.level.rates
        whole = self._weight(0.0, len(rates.values) * rates.interval_s)
        if stat == "mean":
            waited = sum(
                self._weight(start, end) * (last - (start + end) / 2)
                for start, end, last in self._intervals
            )
            return waited / whole * 1e3
        beyond = (1 - QUANTILES[stat]) * whole
        low, high = 0.0, longest
        for _ in range(_HALVINGS):
            wait = (low + high) / 2
            longer = sum(
                self._weight(start, max(start, end - wait)) for start, end in self.silences
            )
            low, high = (wait, high) if longer > beyond else (low, wait)
        return low * 1e3

    def intervals_ms(self, stat: str) -> list[tuple[int, float]]:
        """Start (ns since the Unix epoch) and wait statistic of each silent interval."""
        share = {"mean": 0.5, **QUANTILES}[stat]
        return [
            (
                self.level.rates.start_ns + round(start * 1e9),
                (last - end + share * (end - start)) * 1e3,
            )
            for start, end, last in self._intervals
        ]

    @cached_property
    def _intervals(self) -> list[tuple[float, float, float]]:
        """Start and end of each silent interval with operations due, and of its silence."""
        step = self.level.rates.interval_s
        each = (
            (start + place * step, start + (place + 1) * step, last)
            for start, last in self.silences
            for place in range(round((last - start) / step))
        )
        return [one for one in each if self._weight(*one[:2]) > 0]

    def _ordinary_s(self) -> float:
        """The largest p95 service time of any operation; zero if none completed."""
        merged: dict[str, Latencies] = {}
        for row in self.level.rows:
            merged.setdefault(row["op"], Latencies()).add(row["service"])
        return max((one.quantile_ms(0.95) / 1e3 for one in merged.values()), default=0.0)

    def _is_wanted(self, start_s: float, end_s: float, mean_per_s: float) -> bool:
        rate = self.level.rate
        if rate is not None:
            return rate.due(start_s, end_s) >= FEWEST_EXPECTED
        loop = self.level.phase.detail.loop if self.level.phase else None
        if loop is not None and loop.kind == "closed" and loop.think is False:
            return True
        return mean_per_s * (end_s - start_s) >= FEWEST_EXPECTED

    def _weight(self, start_s: float, end_s: float) -> float:
        rate = self.level.rate
        return end_s - start_s if rate is None else rate.due(start_s, end_s)

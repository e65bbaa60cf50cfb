"""How long whoever asked while nothing ended had to wait at least.

Histograms hold what ended. A user who starts anew only after an answer is in them once for a
silence of any length, and what had not ended when the window closed is in none. So a server that
stands still for ten seconds of a minute would keep any limit on a percentile.

A silence therefore counts by itself: who asks t seconds before its end waits t seconds at least.
Over the window that is a distribution of moments: each moment of a silence with the time that was
left of it, every other moment with no wait at all. Moments weigh by how many starts were due in
them in an open loop, and by their length in a closed one. Its percentiles and mean are the least
that an open loop would have measured (the "virtual wait" of queueing theory, of which a histogram
of a closed loop knows nothing). A criterion takes the longer of the two figures; they are never
added, so that nothing counts twice.

Silent is a whole interval in which nothing ended, well or not, though somebody wanted it: users who
do not think always do. Of users who think, and of a schedule, so much must have been to be expected
in the stretch that it is no chance. And it must be longer than the slowest operation takes in the
ordinary (p95 of its service time): a user alone is silent while a long transaction of its own runs,
which says nothing of what another one would have had to wait for, and has its own figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dyno.analyse.histograms import Latencies
from dyno.analyse.level import Level
from dyno.bundle.stalls import FEWEST_EXPECTED, stretches
from dyno.bundle.tables import counts
from dyno.criteria.base import QUANTILES

_HALVINGS = 50


@dataclass(frozen=True)
class Waits:
    """The waits of a level. Times are seconds from the start of what was measured of it."""

    level: Level

    @cached_property
    def silences(self) -> Sequence[tuple[float, float]]:
        """Start and end of each stretch in which nothing ended though it was wanted."""
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
        """Length of all of them, without intervals in which nothing was due."""
        return sum(end - start for start, end, _ in self._intervals)

    def window_ms(self, stat: str) -> float | None:
        """A stat of the waits over the window; None without a silence."""
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
        """The same of each silent interval: its start in ns since the Unix epoch, and the value."""
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
        """Start and end of each silent interval in which something was due, and of its silence."""
        step = self.level.rates.interval_s
        each = (
            (start + place * step, start + (place + 1) * step, last)
            for start, last in self.silences
            for place in range(round((last - start) / step))
        )
        return [one for one in each if self._weight(*one[:2]) > 0]

    def _ordinary_s(self) -> float:
        """The largest p95 of service time of any operation; zero if none ended."""
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

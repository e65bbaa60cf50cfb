"""The measured time of a level of load, as the metrics of criteria ask for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from dyno.analyse.histograms import Latencies
from dyno.analyse.rows import counts
from dyno.analyse.series import Series, Throughput
from dyno.criteria.base import QUANTILES
from dyno.model import Place, TargetFacts
from dyno.series import Key

_HALF_NS = 500_000_000


@dataclass(frozen=True)
class LevelWindow:
    """See the protocol.

    Attributes:
        rows: The level's measured rows of ``ops``.
        rates: Its throughput, whose bounds are the window's.
        series: What the probes sampled in the run.
        facts: The target's; None if it did not get as far as to say them.
    """

    rows: list[dict[str, Any]]
    rates: Throughput
    series: dict[Key, Series]
    facts: TargetFacts | None

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.rates.end_ns - self.rates.start_ns) / 1e9

    @property
    def place(self) -> Place:
        """Where the target works."""
        return "machine" if self.facts is None else self.facts.place

    @property
    def operations(self) -> list[str]:
        """Operations that occurred."""
        return list(dict.fromkeys(row["op"] for row in self.rows))

    def devices(self, what: Literal["data", "log"]) -> tuple[str, ...]:
        """Block devices that carry the target's data or its log."""
        return () if self.facts is None else self.facts.devices.get(what, ())

    def samples(self, source: str, subject: str, metric: str) -> list[tuple[int, float]]:
        """Readings that concern mostly the window: each concerns the second before it."""
        one = self.series.get((source, subject, metric))
        if one is None:
            return []
        return [
            (t_ns - 2 * _HALF_NS, value)
            for t_ns, value in zip(one.t_ns, one.values, strict=True)
            if self.rates.start_ns <= t_ns - _HALF_NS < self.rates.end_ns
        ]

    def latency_ms(self, operation: str, stat: str) -> float | None:
        """A stat of an operation's response time over the window."""
        merged = Latencies()
        for row in self._of(operation):
            merged.add(row["response"])
        return _stat(merged, stat)

    def latencies_ms(self, operation: str, stat: str) -> list[tuple[int, float]]:
        """The same of each interval in which one ended."""
        found: list[tuple[int, float]] = []
        for row in self._of(operation):
            one = Latencies()
            one.add(row["response"])
            value = _stat(one, stat)
            if value is not None:
                found.append((row["t_ns"], value))
        return sorted(found)

    def ended(self) -> list[tuple[int, float]]:
        """Operations that ended well, a second, by interval."""
        step = round(self.rates.interval_s * 1e9)
        return [
            (self.rates.start_ns + place * step, rate)
            for place, rate in enumerate(self.rates.values)
        ]

    def failed(self) -> list[tuple[int, float]]:
        """Operations that were given up, by interval."""
        return self._sums(_failed)

    def attempted(self) -> list[tuple[int, float]]:
        """Operations that ended, well or not, by interval."""
        return self._sums(lambda row: row["done"] + row["rolled_back"] + _failed(row))

    def _sums(self, count: Callable[[dict[str, Any]], float]) -> list[tuple[int, float]]:
        sums: dict[int, float] = {}
        for row in self.rows:
            sums[row["t_ns"]] = sums.get(row["t_ns"], 0.0) + count(row)
        return sorted(sums.items())

    @cached_property
    def _by_operation(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            found.setdefault(row["op"], []).append(row)
        return found

    def _of(self, operation: str) -> list[dict[str, Any]]:
        return self._by_operation.get(operation, [])


def _failed(row: dict[str, Any]) -> int:
    return sum(counts(row["errors"]).values())


def _stat(latencies: Latencies, stat: str) -> float | None:
    if not latencies.count:
        return None
    return latencies.mean_ms if stat == "mean" else latencies.quantile_ms(QUANTILES[stat])

"""The measurement window of a load level, as the criteria metrics use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dyno.analyse.level import Level
from dyno.analyse.rows import happened
from dyno.analyse.volumes import combined
from dyno.analyse.waits import Waits
from dyno.bundle.histograms import Latencies
from dyno.bundle.machines import at
from dyno.bundle.metrics.resource import MEASURED, VolumeMetric
from dyno.bundle.model import Location, Role, TargetFacts
from dyno.bundle.observed import Reading, Series, mean
from dyno.bundle.series import Key, of_device
from dyno.bundle.tables import counts
from dyno.criteria.base import QUANTILES, Measured


@dataclass(frozen=True)
class LevelWindow:
    """Implements the window protocol.

    Attributes:
        level: The measured level.
        series: The probe samples of the run.
        facts: Facts about the target; None if the run ended before they were read.
        roles: The devices of the target by role (``carriers.of_target``).
    """

    level: Level
    series: dict[Key, Series]
    facts: TargetFacts | None
    roles: Mapping[str, tuple[str, ...]]

    @property
    def seconds(self) -> float:
        """Its duration."""
        return self.level.seconds

    @property
    def place(self) -> Location:
        """Where the target runs; a sampled machine elsewhere counts as one."""
        if self.facts is None or self.facts.machine:
            return "machine"
        return self.facts.place

    @property
    def machine(self) -> str:
        """The other machine whose samples are the target's; empty for this one."""
        return "" if self.facts is None else self.facts.machine

    @property
    def operations(self) -> list[str]:
        """The operations that occurred."""
        return list(dict.fromkeys(row["op"] for row in self.level.rows if happened(row)))

    def devices(self, what: Role) -> tuple[str, ...]:
        """Block devices that hold the target's data, log or temporary files."""
        return () if self.facts is None else self.facts.devices.get(what, ())

    def volume(self, role: str, metric: VolumeMetric) -> Measured | None:
        """A metric of the devices of a role as one; None without readings."""
        names = self.roles.get(role, ())
        devices = [{one: self._readings("disk", name, one) for one in MEASURED} for name in names]
        found = combined(devices).get(metric)
        return None if found is None else Measured(found.mean, found.intervals, ", ".join(names))

    def samples(self, source: str, subject: str, metric: str) -> list[tuple[int, float]]:
        """Readings that fall mostly into the window, each with its start time."""
        return [(one.start_ns, one.value) for one in self._readings(source, subject, metric)]

    def mean(self, source: str, subject: str, metric: str) -> float | None:
        """The mean over time, or over what the metric counts."""
        return mean(self._readings(source, subject, metric))

    def _readings(self, source: str, subject: str, metric: str) -> list[Reading]:
        if source == "disk":
            one = of_device(self.series, subject, metric, self.machine)
        else:
            one = self.series.get((at(source, self.machine), subject, metric))
        rates = self.level.rates
        return [] if one is None else one.between(rates.start_ns, rates.end_ns)

    def latency_ms(self, operation: str, stat: str) -> float | None:
        """A statistic of an operation's response time over the window."""
        merged = Latencies()
        for row in self._of(operation):
            merged.add(row["response"])
        return _stat(merged, stat)

    def latencies_ms(self, operation: str, stat: str) -> list[tuple[int, float]]:
        """A statistic of each interval with at least one completion."""
        found: list[tuple[int, float]] = []
        for row in self._of(operation):
            one = Latencies()
            one.add(row["response"])
            value = _stat(one, stat)
            if value is not None:
                found.append((row["t_ns"], value))
        return sorted(found)

    @property
    def silent_s(self) -> float:
        """Time without completions although operations were due."""
        return self._waits.silent_s

    def wait_ms(self, stat: str) -> float | None:
        """A statistic of the minimum wait during silences, over the window."""
        return self._waits.window_ms(stat)

    def waits_ms(self, stat: str) -> list[tuple[int, float]]:
        """A statistic of the minimum wait of each silent interval."""
        return self._waits.intervals_ms(stat)

    def rate(self) -> float:
        """Successful operations per second over the window."""
        done = sum(row["done"] + row["rolled_back"] for row in self.level.rows)
        return done / self.level.seconds

    def ended(self) -> list[tuple[int, float]]:
        """Successful operations per second in each complete interval; zero if there were none."""
        rates = self.level.rates
        step = round(rates.interval_s * 1e9)
        return [(rates.start_ns + place * step, rate) for place, rate in enumerate(rates.values)]

    def failed(self) -> list[tuple[int, float]]:
        """Operations given up per interval; zero for empty intervals."""
        return self._sums(_failed)

    def attempted(self) -> list[tuple[int, float]]:
        """Completed operations per interval, successful or not."""
        return self._sums(lambda row: row["done"] + row["rolled_back"] + _failed(row))

    def _sums(self, count: Callable[[dict[str, Any]], float]) -> list[tuple[int, float]]:
        rates = self.level.rates
        step = round(rates.interval_s * 1e9)
        sums = dict.fromkeys(range(len(rates.values)), 0.0)
        for row in self.level.rows:
            place = round((row["t_ns"] - rates.start_ns) / step)
            sums[place] = sums.get(place, 0.0) + count(row)
        return [(rates.start_ns + place * step, total) for place, total in sorted(sums.items())]

    @cached_property
    def _waits(self) -> Waits:
        return Waits(self.level)

    @cached_property
    def _by_operation(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.level.rows:
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

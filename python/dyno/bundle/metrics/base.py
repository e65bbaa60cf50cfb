"""Declares metric names. Each is declared once, with its unit, and accessed as an attribute.

The type checker thus detects a misspelled metric. In bundles the names are plain text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, ClassVar, Generic, TypeVar, overload

from dyno.bundle.model import Estimate

W = TypeVar("W", bound=str)


@dataclass(frozen=True)
class Key:
    """The full name and the unit of an estimate.

    Attributes:
        unit: None if it depends on the run, as for sampled metrics.
    """

    name: str
    unit: str | None

    @property
    def last(self) -> str:
        """The part of the name after the last dot."""
        return self.name.rpartition(".")[2]

    def estimate(
        self,
        value: float,
        source: str,
        *,
        low: float | None = None,
        high: float | None = None,
        unit: str = "",
    ) -> Estimate:
        """Creates the estimate with this name.

        Args:
            value: The value in the unit of the metric.
            source: The formula or the source file.
            low: Lower bound of the interval, if any.
            high: Upper bound of the interval, if any.
            unit: The unit, if it depends on the run.
        """
        own = unit if self.unit is None else self.unit
        return Estimate(name=self.name, value=value, low=low, high=high, unit=own, source=source)


@dataclass(frozen=True)
class Scope:
    """The subject of metrics, such as a load level. All its metric names begin with ``start``.

    A scope class declares ``names``, the pattern of its ``start`` values. It may join its metrics
    with another separator than a dot.
    """

    start: str
    names: ClassVar[str] = ""
    joint: ClassVar[str] = "."

    def __init_subclass__(cls, names: str = "", joint: str = ".") -> None:
        cls.names, cls.joint = names, joint
        if names:
            _SCOPES.append(cls)

    def __str__(self) -> str:
        return self.start

    @classmethod
    def metrics(cls) -> Iterator[Metric]:
        """Yields its metrics, including those of base classes; one entry per word family."""
        for name in dict.fromkeys(name for base in cls.__mro__ for name in vars(base)):
            declared = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
            if isinstance(declared, Metric):
                yield replace(declared, owner=cls)
            elif isinstance(declared, Metrics):
                yield Metric(declared.unit, declared.name, cls, declared.words)


_SCOPES: list[type[Scope]] = []


@dataclass(frozen=True)
class Metric:
    """A metric of a scope. Access through a scope instance returns a ``Key``.

    Attributes:
        unit: The printed unit; empty for counts and ratios, None if it depends on the run.
        name: The last part of the name; by default the attribute name.
        words: Values of ``{}`` in the name; without any, everything except a dot.
    """

    unit: str | None = ""
    name: str = ""
    owner: type[Scope] = Scope
    words: tuple[str, ...] = ()

    def __set_name__(self, owner: type[Scope], name: str) -> None:
        object.__setattr__(self, "name", self.name or name)
        object.__setattr__(self, "owner", owner)

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Metric: ...
    @overload
    def __get__(self, instance: Scope, owner: type[Any]) -> Key: ...
    def __get__(self, instance: Scope | None, owner: type[Any]) -> Metric | Key:
        """Returns the key for a scope instance, or the metric for the class."""
        return replace(self, owner=owner) if instance is None else self.of(instance)

    def of(self, scope: Scope) -> Key:
        """Returns its key in a scope."""
        return Key(f"{scope}{scope.joint}{self.name}", self.unit)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches the full names of its estimates, with a group for each part of the scope."""
        listed = "|".join(map(re.escape, self.words)) or r"[^.]+"
        last = re.escape(self.name).replace(r"\{\}", f"(?:{listed})")
        return re.compile(f"{self.owner.names}{re.escape(self.owner.joint)}{last}", re.DOTALL)


@dataclass(frozen=True)
class Metrics(Generic[W]):
    """Metrics of a scope that differ in one word, such as a percentile: ``response("p95")``.

    Attributes:
        name: The name, with ``{}`` for the word.
        words: The valid words; empty for any.
    """

    unit: str | None
    name: str
    words: tuple[W, ...] = ()

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Callable[[W], Metric]: ...
    @overload
    def __get__(self, instance: Scope, owner: type[Any]) -> Callable[[W], Key]: ...
    def __get__(
        self, instance: Scope | None, owner: type[Any]
    ) -> Callable[[W], Metric] | Callable[[W], Key]:
        """Returns a function from a word to its key in a scope, or to its metric on the class."""

        def metric(word: W) -> Metric:
            return Metric(self.unit, self.name.format(word), owner)

        return metric if instance is None else lambda word: metric(word).of(instance)


class Estimates:
    """The estimates of a run by key."""

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        self._by_name = {one.name: one for one in estimates}

    @cached_property
    def _sorted(self) -> list[tuple[str, int]]:
        """Names with their positions among the estimates."""
        return sorted((name, place) for place, name in enumerate(self._by_name))

    def estimate(self, key: Key) -> Estimate | None:
        """Returns the estimate of a metric; None if the run has none."""
        return self._by_name.get(key.name)

    def value(self, key: Key) -> float | None:
        """Returns the value of a metric."""
        found = self.estimate(key)
        return None if found is None else found.value

    def of(self, scope: Scope) -> dict[str, Estimate]:
        """Returns all estimates of a scope in order, by the part of the name after the scope."""
        start = f"{scope}{scope.joint}"
        return {
            name.removeprefix(start): one
            for name, one in self._by_name.items()
            if name.startswith(start)
        }

    def between(self, start: str, metric: Metric) -> list[str]:
        """Returns the name parts between ``start`` and a metric, in the order of the estimates."""
        end = f"{metric.owner.joint}{metric.name}"
        found: list[tuple[int, str]] = []
        for at in range(bisect_left(self._sorted, (start, 0)), len(self._sorted)):
            name, place = self._sorted[at]
            if not name.startswith(start):
                break
            if name.endswith(end) and len(name) > len(start) + len(end):
                found.append((place, name[len(start) : -len(end)]))
        return [middle for _, middle in sorted(found)]


class FindsEstimates:
    """Lookups by key, for a class with ``estimates``."""

    estimates: tuple[Estimate, ...]

    @cached_property
    def known(self) -> Estimates:
        """The estimates by their keys."""
        return Estimates(self.estimates)

    def estimate(self, key: Key) -> Estimate | None:
        """The estimate of a metric; None if the run has none."""
        return self.known.estimate(key)

    def value(self, key: Key) -> float | None:
        """The value of a metric; None if the run has none."""
        return self.known.value(key)


def declared(name: str) -> list[Metric]:
    """Returns the metrics that match the name of an estimate; none if it is undeclared."""
    return [one for one in all_declared() if one.pattern.fullmatch(name)]


@cache
def all_declared() -> list[Metric]:
    """Returns every metric of every scope, one per word family."""
    return [metric for scope in _SCOPES for metric in scope.metrics()]

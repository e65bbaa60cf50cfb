"""How names of metrics are made: each is declared once, with its unit, and found by attribute.

A mistyped metric is therefore an error of the type checker. Names stay plain text in bundles.
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
    """The full name of an estimate, and its unit.

    Attributes:
        unit: None where it depends on the run, such as that of a sampled metric.
    """

    name: str
    unit: str | None

    @property
    def last(self) -> str:
        """What follows the last dot of the name."""
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
        """The estimate of this name.

        Args:
            value: In the metric's unit.
            source: The formula or the file that it comes from.
            low: Lower bound of its interval, if there is one.
            high: Upper bound.
            unit: Where it depends on the run.
        """
        own = unit if self.unit is None else self.unit
        return Estimate(name=self.name, value=value, low=low, high=high, unit=own, source=source)


@dataclass(frozen=True)
class Scope:
    """What metrics are about, such as a level of load: ``start`` begins all of their names.

    A class of scopes names itself by ``names``, the pattern of all its starts, and may join its
    metrics to them otherwise than by a dot.
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
        """Those that it declares, with its bases; of those that differ in a word one for all."""
        for name in dict.fromkeys(name for base in cls.__mro__ for name in vars(base)):
            declared = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
            if isinstance(declared, Metric):
                yield replace(declared, owner=cls)
            elif isinstance(declared, Metrics):
                yield Metric(declared.unit, declared.name, cls, declared.words)


_SCOPES: list[type[Scope]] = []


@dataclass(frozen=True)
class Metric:
    """A metric of a scope. On an instance of the scope it is a ``Key``.

    Attributes:
        unit: As it is printed; empty for counts and ratios, None if it depends on the run.
        name: The last part of the name; by default the attribute's name.
        words: What may stand for ``{}`` in the name; anything without a dot if there are none.
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
        """The key in a scope, or the metric itself on the class."""
        return replace(self, owner=owner) if instance is None else self.of(instance)

    def of(self, scope: Scope) -> Key:
        """Its key in a scope."""
        return Key(f"{scope}{scope.joint}{self.name}", self.unit)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Of the full names of its estimates, with a group for each part of the scope."""
        listed = "|".join(map(re.escape, self.words)) or r"[^.]+"
        last = re.escape(self.name).replace(r"\{\}", f"(?:{listed})")
        return re.compile(f"{self.owner.names}{re.escape(self.owner.joint)}{last}", re.DOTALL)


@dataclass(frozen=True)
class Metrics(Generic[W]):
    """Metrics of a scope that differ in a word only, such as a percentile: ``response("p95")``.

    Attributes:
        name: With ``{}`` for the word.
        words: Those that there are; any if none is listed.
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
        """What makes the key of a word in a scope, or on the class the metric of a word."""

        def metric(word: W) -> Metric:
            return Metric(self.unit, self.name.format(word), owner)

        return metric if instance is None else lambda word: metric(word).of(instance)


class Estimates:
    """Estimates of a run by their keys."""

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        self._by_name = {one.name: one for one in estimates}

    @cached_property
    def _sorted(self) -> list[tuple[str, int]]:
        """Names with their places in the order of the estimates."""
        return sorted((name, place) for place, name in enumerate(self._by_name))

    def estimate(self, key: Key) -> Estimate | None:
        """The estimate of a metric; None if the run has none."""
        return self._by_name.get(key.name)

    def value(self, key: Key) -> float | None:
        """Its value."""
        found = self.estimate(key)
        return None if found is None else found.value

    def of(self, scope: Scope) -> dict[str, Estimate]:
        """All of a scope, in their order, by what follows the scope in their names."""
        start = f"{scope}{scope.joint}"
        return {
            name.removeprefix(start): one
            for name, one in self._by_name.items()
            if name.startswith(start)
        }

    def between(self, start: str, metric: Metric) -> list[str]:
        """What stands between ``start`` and a metric in names, in the order of the estimates."""
        end = f"{metric.owner.joint}{metric.name}"
        found: list[tuple[int, str]] = []
        for at in range(bisect_left(self._sorted, (start, 0)), len(self._sorted)):
            name, place = self._sorted[at]
            if not name.startswith(start):
                break
            if name.endswith(end) and len(name) > len(start) + len(end):
                found.append((place, name[len(start) : -len(end)]))
        return [middle for _, middle in sorted(found)]


def declared(name: str) -> list[Metric]:
    """The metrics that an estimate of this name may belong to; none if it is not declared."""
    return [one for one in all_declared() if one.pattern.fullmatch(name)]


@cache
def all_declared() -> list[Metric]:
    """Every metric of every scope, those that differ in a word once."""
    return [metric for scope in _SCOPES for metric in scope.metrics()]

"""How names of metrics are made: each is declared once, with its unit, and found by attribute.

A mistyped metric is therefore an error of the type checker. Names stay plain text in bundles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, overload

from dyno.bundle.model import Estimate


@dataclass(frozen=True)
class Key:
    """The full name of an estimate, and its unit."""

    name: str
    unit: str

    def estimate(
        self, value: float, source: str, low: float | None = None, high: float | None = None
    ) -> Estimate:
        """The estimate of this name.

        Args:
            value: In the metric's unit.
            source: The formula or the file that it comes from.
            low: Lower bound of its interval, if there is one.
            high: Upper bound.
        """
        return Estimate(
            name=self.name, value=value, low=low, high=high, unit=self.unit, source=source
        )


class Scope:
    """What metrics are about, such as a level of load: ``start`` begins all of their names."""

    def __init__(self, start: str) -> None:
        self.start = start

    def __str__(self) -> str:
        return self.start


class Metric:
    """A metric of a scope. On an instance of the scope it is a ``Key``.

    Args:
        unit: As it is printed; empty for counts and ratios.
        name: The last part of the name; by default the attribute's name.
    """

    def __init__(self, unit: str = "", name: str = "") -> None:
        self.unit = unit
        self.name = name

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = self.name or name

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Metric: ...
    @overload
    def __get__(self, instance: Scope, owner: type[Any]) -> Key: ...
    def __get__(self, instance: Scope | None, owner: type[Any]) -> Metric | Key:
        """The key in a scope, or the metric itself on the class."""
        return self if instance is None else self.of(instance)

    def of(self, scope: Scope | str) -> Key:
        """Its key in a scope that only the caller knows."""
        return Key(f"{scope}.{self.name}", self.unit)

    def between(self, start: str, names: Iterable[str]) -> list[str]:
        """What stands between ``start`` and this metric in names, in their order."""
        end = f".{self.name}"
        return [
            name[len(start) : -len(end)]
            for name in names
            if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end)
        ]

"""Isolation levels of a target, and how it begins a transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dyno.contracts.target import Target
from dyno.errors import UsageError

LEVELS = ("read-uncommitted", "read-committed", "repeatable-read", "serializable")
"""The standard's levels, weakest first."""


@dataclass(frozen=True)
class Isolation:
    """A target's transactions.

    Attributes:
        levels: The supported ones of :data:`LEVELS`, and more that the target has.
        default: The level of a session that sets none, such as the driver's.
        begin: Statements that begin a transaction at a level; the flag states whether it writes.
    """

    levels: tuple[str, ...]
    default: str
    begin: Callable[[str, bool], tuple[str, ...]]


@runtime_checkable
class Isolates(Protocol):
    """A target with concurrent transactions."""

    def isolation(self) -> Isolation:
        """Levels, the live system's default, and how to begin a transaction.

        Raises:
            DynoError: If the target does not respond.
        """
        ...


def require(target: Target, level: str | None) -> tuple[Isolation, str]:
    """The target's isolation, and the requested level.

    Raises:
        UsageError: If the target has no isolation levels, or not this one.
    """
    if not isinstance(target, Isolates):
        raise UsageError(f"{target.name} has no concurrent transactions to isolate.")
    found = target.isolation()
    if level is not None and level not in found.levels:
        raise UsageError(
            f"{target.name} does not support the level {level}; it has {', '.join(found.levels)}."
        )
    return found, level or found.default


def standard_name(level: str) -> str:
    """Normalises a level: ``REPEATABLE-READ`` and ``repeatable read`` are the same."""
    return level.strip().lower().replace(" ", "-").replace("_", "-")


def sql_name(level: str) -> str:
    """A level in standard SQL spelling."""
    return level.replace("-", " ").upper()

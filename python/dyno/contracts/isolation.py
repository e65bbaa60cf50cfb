"""How a target begins a transaction, and which isolation levels it has."""

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
        levels: Those of :data:`LEVELS` that it has.
        default: The level that a session has that asks for none, as the driver's do not.
        begin: Statements that begin a transaction at a level; the flag says whether it will write.
    """

    levels: tuple[str, ...]
    default: str
    begin: Callable[[str, bool], tuple[str, ...]]


@runtime_checkable
class Isolates(Protocol):
    """A target whose sessions have transactions that can be told apart."""

    def isolation(self) -> Isolation:
        """Levels, the default as the live system says, and how to begin.

        Raises:
            DynoError: If the system cannot be asked.
        """
        ...


def require(target: Target, level: str | None) -> tuple[Isolation, str]:
    """The target's isolation, and the level that is meant.

    Raises:
        UsageError: If it has none, or not this level.
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
    """A level by Dyno's name: ``REPEATABLE-READ`` and ``repeatable read`` are the same one."""
    return level.strip().lower().replace(" ", "-").replace("_", "-")


def sql_name(level: str) -> str:
    """A level as standard SQL spells it."""
    return level.replace("-", " ").upper()

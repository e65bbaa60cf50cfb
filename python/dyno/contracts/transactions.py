"""Transactions of a workload, as the driver runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dyno.contracts.target import Connection, Loaded


@dataclass(frozen=True)
class Pace:
    """Pace of users with keying and think time.

    Attributes:
        users: Users per unit of the scale.
        per_min: Maximum main operations per minute and unit, with an infinitely fast
            server.
    """

    users: float
    per_min: float


@dataclass(frozen=True)
class Work:
    """What users do.

    Attributes:
        loaded: The loaded data.
        home: The part of the data of a user: the same one (``fixed``), a random one per
            transaction (``random``), or all in turn (``all``).
        mode: Where the transactions run: ``client`` or ``procedure``.
        connect: Opens a session, for values that are read from the database; None if the target
            runs no statements.
        place: Names the run, target and database; its levels share numbers that go on.
    """

    loaded: Loaded
    home: str
    mode: str
    connect: Callable[[], Connection] | None = None
    place: str = ""


@dataclass(frozen=True)
class Transactions:
    """The operations of a workload.

    Attributes:
        main: The operation of a level's headline metrics.
        plural: Its plural, in names of metrics: ``<plural>_per_min``.
        mix: The share of each operation, by its recorded name.
        kind: The driver's name of the workload.
        params: The driver's parameters, as JSON values.
        unit: The unit of the scale, such as ``warehouse``.
        recorded: Name of the scale in the record of a level and in the JSON document.
        modes: Supported modes.
        homes: Supported homes.
        pace: Pace with keying and think time; None without one.
        pause_s: Mean keying plus think time of a transaction, seconds; 0 without.
        retries: Maximum retries of a transaction; None for the driver's default.
        p90_s: Limits of the 90th percentile of response times, seconds, by operation; default
            limits of a run.
        p90_source: Where they come from.
    """

    main: str
    plural: str
    mix: Mapping[str, float]
    kind: str
    params: Callable[[Work], dict[str, Any]]
    unit: str
    recorded: str = "scale"
    modes: tuple[str, ...] = ("client",)
    homes: tuple[str, ...] = ("random",)
    pace: Pace | None = None
    pause_s: float = 0.0
    retries: int | None = None
    p90_s: Mapping[str, float] = field(default_factory=dict[str, float])
    p90_source: str = ""

    @property
    def per_min(self) -> str:
        """Name of the main operations per minute in JSON documents and studies."""
        return f"{self.plural}_per_min"

    @property
    def title(self) -> str:
        """``New-Order``."""
        return self.main.replace("_", " ").title().replace(" ", "-")

    @property
    def plural_title(self) -> str:
        """``New orders``."""
        return self.plural.replace("_", " ").capitalize()

    def units(self, scale: float) -> str:
        """``1 warehouse``, ``5 warehouses``."""
        return f"{scale:,g} {self.unit}{'' if scale == 1 else 's'}"

    def crowd(self, users: float, scale: float) -> str | None:
        """A message if users with think time exceed the scale.

        None if they do not, or if the workload has no pace.
        """
        if self.pace is None or users <= self.pace.users * scale:
            return None
        each = self.pace.users
        return (
            f"{users:,.0f} users with think time exceed {self.units(scale)}: the limit is "
            f"{each:g} users per {self.unit}. Use at most --users {each * scale:.0f}, or load "
            f"{-(-users // each):.0f} {self.unit}s."
        )


NONE = Transactions("main_operation", "main_operations", {}, "", lambda _work: {}, "unit")
"""Stands for an unknown workload."""

"""What the driver runs of a workload of transactions, and what its figures go by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dyno.contracts.target import Loaded


@dataclass(frozen=True)
class Pace:
    """The pace of users who key and think.

    Attributes:
        users: Users for each unit of the scale.
        per_min: Main operations a minute and unit that they can reach with a server that answers
            at once.
    """

    users: float
    per_min: float


@dataclass(frozen=True)
class Work:
    """What users are to do.

    Attributes:
        loaded: What the tables hold.
        home: Which part of the data a user works on: the same one (``fixed``), one drawn each time
            (``random``), or each in turn (``all``).
        mode: Where the operations are programmed: ``client`` or ``procedure``.
    """

    loaded: Loaded
    home: str
    mode: str


@dataclass(frozen=True)
class Transactions:
    """The operations of a workload.

    Attributes:
        main: The operation that a level's headline figures are about.
        plural: Several of it, in names of figures: ``<plural>_per_min``.
        mix: The share of each operation, by its name as the driver records it.
        kind: The driver's name for it.
        params: The driver's parameters, ready for JSON.
        unit: What the scale counts, such as ``warehouse``.
        recorded: The name of the scale in the record of a level, and in the JSON document.
        modes: Where its operations can be programmed.
        homes: How users can choose their part of the data.
        pace: The pace of users who key and think; None where none is prescribed.
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

    @property
    def per_min(self) -> str:
        """Main operations a minute, as JSON documents and studies name them."""
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
        """What to tell of thinking users who are more than the data has places for.

        None if they are not, or if no pace is prescribed.
        """
        if self.pace is None or users <= self.pace.users * scale:
            return None
        each = self.pace.users
        return (
            f"{users:,.0f} users who think share {self.units(scale)}: the rule is {each:g} a "
            f"{self.unit}. Give at most --users {each * scale:.0f}, or load "
            f"{-(-users // each):.0f} {self.unit}s."
        )


NONE = Transactions("main_operation", "main_operations", {}, "", lambda _work: {}, "unit")
"""Of a workload that this Dyno lacks, whose main operation is not known."""

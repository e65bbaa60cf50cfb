"""Checkpoints: a server's own work that comes in waves, so that steady work has to span several.

A target that counts them has a method ``checkpoints``. Engines that write their pages all the time
have no waves, and no such method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Checkpoints:
    """What a server's counters say.

    Attributes:
        begun: Checkpoints that have begun since it last reset its counters.
        interval_s: Longest time from the start of one to that of the next, while it has work.
        setting: The server's name for that time.
        source: Where the count comes from.
    """

    begun: int
    interval_s: float
    setting: str
    source: str


@runtime_checkable
class Checkpointed(Protocol):
    """A target that counts its checkpoints."""

    def checkpoints(self) -> Checkpoints:
        """The counters at this moment.

        Raises:
            DynoError: If the server cannot be asked.
        """
        ...

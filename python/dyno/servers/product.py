"""What tells one server product from another, as far as its life goes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    """A product of which Dyno runs servers of its own.

    Attributes:
        name: As its makers write it, for messages.
        stops: Signals that end it, the most polite first, and the seconds that each is given.
        at_death: The signal that it gets when Dyno dies.
        explain: Finds in the last lines of a log what explains the server's end; None if nothing
            does.
        tells_full_disk: Whether a message of its programs means that a volume is full.
        aborts: Signals with which it ends itself, after it has logged why.
    """

    name: str
    stops: Sequence[tuple[signal.Signals, float]]
    at_death: signal.Signals
    explain: Callable[[Sequence[str]], str | None]
    tells_full_disk: Callable[[str], bool]
    aborts: frozenset[signal.Signals] = frozenset()

"""The lifecycle differences between server products."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    """A product of which Dyno runs private servers.

    Attributes:
        name: The official name, for messages.
        stops: Signals that stop it, the most polite first, with their timeouts in seconds.
        at_death: The signal that it gets when Dyno dies.
        explain: Finds the cause of the server's exit in the last lines of a log; None if there is
            none.
        reports_full_disk: Whether a message of its programs reports a full volume.
        aborts: Signals with which it aborts, after it has logged the reason.
    """

    name: str
    stops: Sequence[tuple[signal.Signals, float]]
    at_death: signal.Signals
    explain: Callable[[Sequence[str]], str | None]
    reports_full_disk: Callable[[str], bool]
    aborts: frozenset[signal.Signals] = frozenset()

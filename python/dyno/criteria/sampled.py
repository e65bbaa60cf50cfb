"""What metrics share that are read off the probes of this machine."""

from __future__ import annotations

from dyno.criteria.base import Window

FEWEST = 3
FEW = f"fewer than {FEWEST} readings of this machine fell into the window"


def not_observed(window: Window) -> str | None:
    """Why this machine's probes say nothing of the server; None if they do."""
    if window.place == "elsewhere":
        return "the server's machine was not observed"
    if window.place == "process":
        return "there is no server: the target works inside Dyno"
    return None

"""What metrics share that are read off the probes of this machine."""

from __future__ import annotations

from dyno.criteria.base import Missing, Window

FEWEST = 3
FEW = Missing(f"fewer than {FEWEST} readings of this machine fell into the window")


def not_observed(window: Window) -> Missing | None:
    """Why this machine's probes say nothing of the server; None if they do."""
    if window.place == "elsewhere":
        return Missing("the server's machine was not observed")
    if window.place == "process":
        return Missing("there is no server: the target works inside Dyno")
    return None

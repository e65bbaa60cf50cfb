"""Common parts of metrics from the probes of the server's machine."""

from __future__ import annotations

from dyno.criteria.base import Missing, Window

FEWEST = 3
FEW = Missing(f"fewer than {FEWEST} samples of this machine in the window")


def not_observed(window: Window) -> Missing | None:
    """Why no probes say anything of the server; None if they do."""
    if window.place == "elsewhere":
        return Missing("no samples of the server's machine")
    if window.place == "process":
        return Missing("no server: the target runs inside Dyno")
    return None

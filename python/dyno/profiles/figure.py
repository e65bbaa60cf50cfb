"""What a curve of a recorded profile is about."""

from __future__ import annotations

from dyno.bundle.model import Run
from dyno.profiles.model import Figure


def recorded(run: Run, volume: str, curve: str, pattern: str) -> Figure:
    """The most IOPS inside the ceiling, or the most MB/s; by ``pattern`` where the run is silent.

    Bundles of others are untrusted input: what is no figure counts as silence.
    """
    for phase in run.phases:
        figures = phase.detail.get("figures")
        if phase.kind != "io" or phase.detail.get("volume") != volume:
            continue
        found = figures.get(curve) if isinstance(figures, dict) else None
        if found == "iops":
            return "iops"
        if found == "mbps":
            return "mbps"
    return "mbps" if pattern == "sequential" else "iops"

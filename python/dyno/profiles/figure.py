"""What a curve of a recorded profile is about."""

from __future__ import annotations

from dyno.bundle.model import Run, those
from dyno.bundle.phases.io import IoDetail
from dyno.profiles.model import Figure


def recorded(run: Run, volume: str, curve: str, pattern: str) -> Figure:
    """The most IOPS inside the ceiling, or the most MB/s; by ``pattern`` where the run is silent.

    Bundles of others are untrusted input: what is no figure counts as silence.
    """
    for phase in those(run.phases, IoDetail):
        if phase.detail.volume != volume:
            continue
        found = (phase.detail.figures or {}).get(curve)
        if found == "iops":
            return "iops"
        if found == "mbps":
            return "mbps"
    return "mbps" if pattern == "sequential" else "iops"

"""The metric of a curve of a recorded profile."""

from __future__ import annotations

from dyno.bundle.model import Run, those
from dyno.bundle.phases.io import IoDetail
from dyno.profiles.model import CurveMetric


def recorded(run: Run, volume: str, curve: str, pattern: str) -> CurveMetric:
    """Returns the metric: IOPS within the ceiling, or MB/s. Derived from ``pattern`` if missing.

    Bundles of others are untrusted input: an invalid metric counts as missing.
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

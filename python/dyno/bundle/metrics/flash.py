"""What a cache on flash can gain in a phase, by what it measured there."""

from __future__ import annotations

from dyno.bundle.metrics.base import Metric, Scope


class Accelerated(Scope, names=r"accelerate\.(?P<phase>[^.]+)"):
    """The reads of a phase with a cache in front of the files."""

    speed_up_bound = Metric()
    """The mean time of a miss by the mean time of all reads; the database also does other work."""

    def __init__(self, phase: str) -> None:
        super().__init__(f"accelerate.{phase}")

"""A recording of a system that Dyno did not load: its busiest hour, and what was missed."""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.metrics.base import Metric, Scope

Load = Literal["iops", "cpu", "sessions"]
"""What makes an hour the busiest: requests of the devices, CPU time, or active sessions."""
LOADS: tuple[Load, ...] = get_args(Load)

BUSIEST = "busiest-hour"
"""The part of the phase, as in ``resource.<phase>/busiest-hour``."""


class Busiest(Scope, names=r"watch\.(?P<phase>[^.]+)\.busiest\.(?P<load>[^.]+)"):
    """The busiest hour by one kind of load; a shorter recording is one hour."""

    start_s = Metric("s")
    seconds = Metric("s")
    mean = Metric(None)
    whole_mean = Metric(None)


class Watch(Scope, names=r"watch\.(?P<phase>[^.]+)"):
    """A recording: the time in which the database was not observed."""

    gaps = Metric()
    gap_s = Metric("s")
    longest_gap_s = Metric("s")

    def __init__(self, phase: str) -> None:
        super().__init__(f"watch.{phase}")

    def busiest(self, load: Load) -> Busiest:
        """Returns the scope of the busiest hour by a kind of load."""
        return Busiest(f"{self}.busiest.{load}")

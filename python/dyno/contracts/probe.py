"""Samples during a run, and probes of targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Sample(NamedTuple):
    """One value at one time.

    Attributes:
        source: ``cpu``, ``disk`` …; for a target's probe, the name of the probe.
        subject: ``host``, ``vda``, ``server``, a target's name …
        metric: The metric; the probe's file documents it.
        unit: ``%``, ``B``, ``s``, ``1/s``, ``MB/s`` (10^6 bytes), ``ms``, ``count``.
    """

    source: str
    subject: str
    metric: str
    value: float
    unit: str


class UnavailableError(Exception):
    """The source of the probe does not exist here; the message is the reason."""


class TargetProbe(Protocol):
    """Reads metrics of one target in its own thread, while joined to the sampler.

    Attributes:
        name: Source of its samples; unique among probes.
        period_s: Time between two readings.
        deadline_s: Timeout of a reading; a late reading counts as missed.
    """

    name: str
    period_s: float
    deadline_s: float

    def read(self, now_ns: int) -> Sequence[Sample]:
        """Samples at ``now_ns``, on the monotonic clock.

        Raises:
            UnavailableError: If this target does not have the source; the probe stops.
            DynoError: If the target does not respond now; the reading counts as missed.
        """
        ...

    def close(self) -> None:
        """Releases its resources. Called from the reading thread; never raises."""
        ...


@runtime_checkable
class Probed(Protocol):
    """A target with probes of its own."""

    def probes(self) -> Sequence[TargetProbe]:
        """New probes, which open nothing before their first reading."""
        ...

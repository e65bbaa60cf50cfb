"""What is sampled while a run goes on, and the probes that a target adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Sample(NamedTuple):
    """One figure of one moment.

    Attributes:
        source: What it comes from: ``cpu``, ``disk`` …; of a target's probe, the probe's name.
        subject: What it is about: ``host``, ``vda``, ``server``, a target's name …
        metric: What it counts; the probe's file documents it.
        unit: ``%``, ``B``, ``s``, ``1/s``, ``MB/s`` (10^6 bytes), ``ms``, ``count``.
    """

    source: str
    subject: str
    metric: str
    value: float
    unit: str


class UnavailableError(Exception):
    """What the probe reads is not offered here; the message is the reason."""


class TargetProbe(Protocol):
    """Reads figures of one target, in a thread of its own, while it is joined to the sampler.

    Attributes:
        name: Source of its samples; no other probe's.
        period_s: Time from one reading to the next.
        deadline_s: A reading that takes longer is missed, and nobody waits for it any longer.
    """

    name: str
    period_s: float
    deadline_s: float

    def read(self, now_ns: int) -> Sequence[Sample]:
        """Figures at ``now_ns``, a time of the monotonic clock.

        Raises:
            UnavailableError: If this target does not have the source; it is read no more.
            DynoError: If the target cannot be asked now; the reading is missed.
        """
        ...

    def close(self) -> None:
        """Gives up what it holds, such as a session. From the thread that reads; never raises."""
        ...


@runtime_checkable
class Probed(Protocol):
    """A target with probes of its own."""

    def probes(self) -> Sequence[TargetProbe]:
        """New ones, which hold nothing until they are read."""
        ...

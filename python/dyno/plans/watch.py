"""A recording of a system that Dyno does not load."""

from __future__ import annotations

from typing import ClassVar

from dyno.config.units import parse_seconds
from dyno.errors import UsageError
from dyno.plans.elsewhere import Elsewhere
from dyno.plans.fields import Plan, Time

HOST = "host:"
"""The target of a recording of this machine without a database."""
FINE_S = 2 * 3600.0
"""Up to this duration the machine is sampled every second by default."""
COARSE_S = 10.0


class WatchPlan(Elsewhere):
    """A plan for ``dyno watch TARGET``.

    Attributes:
        target: URL of a running server; ``host:`` is this machine alone.
        duration: How long to record; None: until Ctrl-C.
        interval: Time between two samples of the machine.
    """

    verb: ClassVar[str] = "watch"
    arguments: ClassVar[tuple[str, ...]] = ("target",)
    options: ClassVar[dict[str, str]] = {**Plan.options, "duration": "--for"}

    target: str = HOST
    duration: Time | None = None
    interval: Time | None = None

    @property
    def seconds(self) -> float | None:
        """How long to record, in s; None: until Ctrl-C."""
        return None if self.duration is None else parse_seconds(self.duration)

    @property
    def interval_s(self) -> float:
        """Time between two samples of the machine, in s.

        Raises:
            UsageError: If it is less than a second, or more than the duration.
        """
        seconds = self.seconds
        if self.interval is None:
            return 1.0 if seconds is not None and seconds <= FINE_S else COARSE_S
        found = parse_seconds(self.interval)
        if not 1 <= found <= 600:
            raise UsageError("--interval must be in the range 1 s to 10 min.")
        if seconds is not None and found > seconds:
            raise UsageError("--interval must not exceed --for.")
        return found

"""The replay of a server's log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dyno.config.units import parse_seconds
from dyno.plans.elsewhere import Elsewhere
from dyno.plans.fields import Plan, Text, Time, within

SPEEDS = (0.01, 1000.0)
MOST_SESSIONS = 100_000


class ReplayPlan(Elsewhere):
    """A plan for ``dyno replay``.

    Attributes:
        log: The log.
        target: URL of the database, or ``embedded:NAME``.
        speed: How much faster than in the log.
        duration: How much of the log to replay, measured at that speed; None: all.
        users: The most sessions at once; None: as many as in the log.
        database: Only statements of this database of the log.
        reads_only: Leave out statements that change or lock rows.
        ddl: Replay statements that change tables, too.
    """

    verb: ClassVar[str] = "replay"
    arguments: ClassVar[tuple[str, ...]] = ("log",)
    options: ClassVar[dict[str, str]] = {**Plan.options, "duration": "--for"}

    log: Path
    target: Text
    speed: Annotated[float, within(*SPEEDS)] = Field(1.0)
    duration: Time | None = None
    users: Annotated[int, within(1, MOST_SESSIONS)] | None = None
    database: str | None = None
    reads_only: bool = False
    ddl: bool = False

    @property
    def span_s(self) -> float | None:
        """How much of the log to replay, in s of the log; None: all."""
        return None if self.duration is None else parse_seconds(self.duration) * self.speed

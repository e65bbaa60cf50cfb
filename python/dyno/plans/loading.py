"""A load of a workload's data into a target."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator

from dyno.errors import UsageError
from dyno.plans.elsewhere import Elsewhere
from dyno.plans.engine import Engine
from dyno.plans.fields import DAYS, MOST_SEED, Plan, Several, Text, within
from dyno.plans.flash import FlashVolumes
from dyno.plans.levels import DATABASES

STREAMS = (1, 256)
MOST_VOLUMES = 64


def _apart(value: Any) -> Any:
    """Indexes in one text, as in a study file, are separated by spaces."""
    return value.split() if isinstance(value, str) else value


class Spread(Plan):
    """Volumes for tables and partitions.

    Attributes:
        volumes: Comma-separated folders, or ``tablespace:NAME``.
        spread: Number of volumes to use; without ``volumes``, folders next to the private engine.
    """

    volumes: Text | None = None
    spread: Annotated[int, within(1, MOST_VOLUMES)] | None = None

    @property
    def spreads(self) -> bool:
        """Whether tables are spread over volumes."""
        return self.volumes is not None or self.spread is not None

    @property
    def beside(self) -> bool:
        """Whether the volumes are Dyno's own folders next to the engine."""
        return self.spreads and self.volumes is None


class LoadingPlan(Elsewhere, Engine, FlashVolumes, Spread):
    """A plan for ``dyno load``.

    Attributes:
        target: URL of the database, or ``embedded:NAME``.
        scale: Scale factor, number of warehouses, or thousands of customers.
        days: Initial days of data with a history; None for the workload's usual number.
        streams: Parallel streams; several values are compared; empty for one per CPU.
        layout: A name from ``dyno layouts list``, or a TOML file.
        index: Indexes beyond the layout, each ``TABLE:COLUMN,COLUMN``.
        replace: Whether to replace tables that Dyno created before.
        resume: Whether to resume an interrupted load, in its layout.
    """

    verb: ClassVar[str] = "load"
    arguments: ClassVar[tuple[str, ...]] = ("workload",)

    workload: str
    target: str
    scale: float
    days: Annotated[int, within(*DAYS)] | None = None
    streams: Annotated[tuple[Annotated[int, within(*STREAMS)], ...], Several] = ()
    databases: Annotated[int, within(*DATABASES)] = 1
    layout: Text | None = None
    index: Annotated[tuple[str, ...], BeforeValidator(_apart)] = ()
    seed: Annotated[int, within(0, MOST_SEED)] = 1
    replace: bool = False
    resume: bool = False

    def require_sense(self) -> None:
        """Refuses options that cannot be combined.

        Raises:
            UsageError: With the options.
        """
        if self.resume and (self.replace or len(self.streams) > 1):
            raise UsageError(
                "--resume continues one load: omit --replace, and give --streams at most once."
            )
        if self.resume and self.spreads:
            raise UsageError("--resume keeps the volumes of the load: omit --volumes and --spread.")
        if self.resume and (self.flash_log or self.flash_temp):
            raise UsageError(
                "--resume keeps the volumes of the load: omit --flash-log and --flash-temp."
            )
        if self.resume and self.index:
            raise UsageError("--resume keeps the layout of the load: omit --index.")
        if len(set(self.streams)) < len(self.streams):
            raise UsageError("Give each number of --streams once.")
        if self.databases > 1 and len(self.streams) > 1:
            raise UsageError("With --databases, give --streams at most once.")

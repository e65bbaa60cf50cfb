"""A load of a workload's data into a target."""

from __future__ import annotations

from typing import Annotated, ClassVar

from dyno.errors import UsageError
from dyno.plans.engine import Engine
from dyno.plans.fields import MOST_SEED, Plan, Several, Text, within
from dyno.plans.levels import DATABASES

STREAMS = (1, 256)
MOST_VOLUMES = 64


class Spread(Plan):
    """Places for tables and partitions.

    Attributes:
        volumes: Folders, or ``tablespace:NAME``, with commas between them.
        spread: How many of them; without them folders beside the embedded engine.
    """

    volumes: Text | None = None
    spread: Annotated[int, within(1, MOST_VOLUMES)] | None = None

    @property
    def spreads(self) -> bool:
        """Whether either is given."""
        return self.volumes is not None or self.spread is not None

    @property
    def beside(self) -> bool:
        """Whether the places are folders of Dyno's own, which lie where the engine does."""
        return self.spreads and self.volumes is None


class LoadingPlan(Engine, Spread):
    """What ``dyno load`` is asked for.

    Attributes:
        target: URL of the database, or ``embedded:NAME``.
        scale: Scale factor or warehouses.
        streams: Parallel streams; several compare their rates, and none means one a processor.
        layout: A name of ``dyno layouts``, or a TOML file.
        replace: Whether tables that Dyno created earlier are replaced.
        resume: Whether it goes on with a load that was cut off, in its layout.
    """

    verb: ClassVar[str] = "load"
    arguments: ClassVar[tuple[str, ...]] = ("workload",)

    workload: str
    target: str
    scale: float
    streams: Annotated[tuple[Annotated[int, within(*STREAMS)], ...], Several] = ()
    databases: Annotated[int, within(*DATABASES)] = 1
    layout: Text | None = None
    seed: Annotated[int, within(0, MOST_SEED)] = 1
    replace: bool = False
    resume: bool = False

    def require_sense(self) -> None:
        """Refuses options that exclude each other.

        Raises:
            UsageError: Saying which.
        """
        if self.resume and (self.replace or len(self.streams) > 1):
            raise UsageError(
                "--resume goes on with one load: give neither --replace nor more streams."
            )
        if self.resume and self.spreads:
            raise UsageError(
                "--resume goes on where the load lies: leave out --volumes and --spread."
            )
        if len(set(self.streams)) < len(self.streams):
            raise UsageError("Give each number of --streams once.")
        if self.databases > 1 and len(self.streams) > 1:
            raise UsageError("--databases takes one number of --streams.")

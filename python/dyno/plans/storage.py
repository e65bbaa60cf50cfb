"""A profile of volumes."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from dyno.plans.engine import Bounds
from dyno.plans.fields import Several, Size, Text, Texts, Time, within

CEILING_MS = (0.0, 3_600_000.0)
REPEATS = (1, 1000)
WAYS = ("together", "compare", "scaling")


class StoragePlan(Bounds):
    """A plan for ``dyno io``.

    Attributes:
        volumes: Folders, files and devices, each as ``PATH`` or ``NAME=PATH``.
        profile: A profile's name, or a TOML file.
        size: Size of the test file; None for the profile's.
        step: Measured time per load step; None for the profile's.
        ceiling: Latency ceiling in milliseconds; ``ceiling_of`` names the statistic.
        depths, rate: Comma-separated loads: queue depths, or I/Os per second.
        how: Several volumes at once, one after the other, or one, two, … all.
        fill: Comma-separated percentages of the volume or of ``fill_of``.
        fsync: Whether every write is synced.
        destroy: Whether files and devices may be overwritten.
    """

    verb: ClassVar[str] = "io"
    arguments: ClassVar[tuple[str, ...]] = ("volumes",)

    volumes: Texts
    profile: Text = "quick"
    size: Size | None = None
    step: Time | None = None
    ceiling: Annotated[float, within(*CEILING_MS, above=True)] | None = None
    ceiling_of: Literal["p95", "mean", "p99"] | None = None
    depths: Text | None = None
    rate: Text | None = None
    reads_only: bool = False
    how: Annotated[tuple[Literal["together", "compare", "scaling"], ...], Several] = ()
    repeat: Annotated[int, within(*REPEATS)] = 1
    fill: Text | None = None
    fill_of: Size | None = None
    fsync: bool = False
    pages: Literal["auto", "huge", "ordinary"] | None = None
    destroy: bool = False
    on_error: Literal["stop", "continue"] = "stop"

    @classmethod
    def option_words(cls) -> set[str]:
        """The names of all options; each value of ``how`` is an option."""
        return (super().option_words() - {"how"}) | set(WAYS)

    def _option_words(self, name: str, value: object) -> list[str]:
        if name == "how":
            return [f"--{way}" for way in self.how]
        return super()._option_words(name, value)

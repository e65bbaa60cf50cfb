"""The result of a sizing."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.decide.size.count import Count
from dyno.decide.size.evidence import Input
from dyno.decide.size.lot import Spread
from dyno.decide.size.raid import Compared


@dataclass(frozen=True)
class Criterion:
    """A published latency or CPU criterion at the largest measured load that sizing uses."""

    name: str
    limit: float
    value: float
    unit: str

    @property
    def passed(self) -> bool:
        """Whether the measured value is below the limit."""
        return self.value < self.limit


@dataclass(frozen=True)
class WhatIf:
    """A given number of servers, devices or CPUs, against what is wanted.

    Attributes:
        asked: What is given.
        servers, devices: The numbers that count; None if there is no need for any.
        used: Share of each resource that the wanted load takes, with its headroom as 100 %.
        holds: Whether it is enough in 95 of 100 draws, with all response limits.
        mean_ms, p95_ms: Response times; None without transactions.
        tps: The most transactions per second within the headroom; None if none are wanted.
        limited: What limits them.
    """

    asked: dict[str, float]
    servers: int | None
    devices: int | None
    used: dict[str, Spread]
    holds: bool
    mean_ms: Spread | None
    p95_ms: Spread | None
    tps: Spread | None
    limited: str


@dataclass(frozen=True)
class Sizing:
    """What is needed for what is wanted.

    Attributes:
        servers, devices: Counts; None if nothing that is wanted needs them.
        data_tb: Data after all growth.
        usable_tb: Usable TB of the recommended devices.
        fill: Share of them that the data takes.
        tps: Transactions per second that all users do.
        mean_ms, p95_ms: Response times at the recommended number of servers.
        raid: Levels compared, by theory and by measurement.
        criteria: Published criteria at the largest measured load.
        inputs: Every input.
        caveats: What a reader has to know.
    """

    servers: Count | None
    devices: Count | None
    data_tb: float | None
    usable_tb: float | None
    fill: float | None
    tps: Spread | None
    mean_ms: Spread | None
    p95_ms: Spread | None
    raid: tuple[Compared, ...]
    criteria: tuple[Criterion, ...]
    inputs: tuple[Input, ...]
    caveats: tuple[str, ...]
    what_if: WhatIf | None = None

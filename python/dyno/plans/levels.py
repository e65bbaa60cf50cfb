"""Levels of transactions: how many users, where, for how long, and how they work."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from dyno.config.units import parse_seconds
from dyno.contracts import databases as several
from dyno.contracts.workload import Workload
from dyno.errors import UsageError
from dyno.plans.fields import Plan, Several, Time, TimeOrNone, within

MODES = ("client", "procedure")
HOMES = ("fixed", "random", "all")
USERS = (1, 100_000)
DATABASES = (1, several.MOST)


class Levels(Plan):
    """Levels of load.

    Attributes:
        users: Users of each level; one if none is given.
        duration: Measured time a level; None for the usual.
        until_steady: Go on until a stretch as long as ``duration`` is steady, at most so long.
        reconnect: How long users who lose the server try to come back.
    """

    users: Annotated[tuple[Annotated[int, within(*USERS)], ...], Several] = ()
    databases: Annotated[int, within(*DATABASES)] = 1
    duration: Time | None = None
    warmup: TimeOrNone = "5s"
    until_steady: Time | None = None
    think: bool = False
    home: Literal["fixed", "random", "all"] = "random"
    mode: Literal["client", "procedure"] = "client"
    reconnect: Time = "5s"

    def duration_s(self, *, searched: bool) -> float:
        """How long a level is measured; windows of a search are shorter unless told."""
        return parse_seconds(self.duration or ("15s" if searched else "60s"))

    def require_levels(self, duration_s: float) -> None:
        """Refuses numbers that make no sense beside a level of so many seconds.

        Raises:
            UsageError: Naming them.
        """
        if len(set(self.users)) < len(self.users):
            raise UsageError("Give each number of --users once.")
        if self.until_steady is not None and parse_seconds(self.until_steady) < duration_s:
            raise UsageError("--until-steady must not be shorter than --duration.")

    def require_able(self, workload: Workload) -> None:
        """Refuses what the workload's transactions cannot do.

        Raises:
            UsageError: With what they can.
        """
        able = workload.transactions
        asked = (("--mode", self.mode, able.modes), ("--home", self.home, able.homes))
        for option, value, known in asked:
            if value not in known:
                message = f"{workload.name} has no {option} {value}. Known: {', '.join(known)}."
                raise UsageError(message)

    def levels_record(self) -> dict[str, Any]:
        """For the plan of the bundle; the duration may yet be that of a file with rates."""
        limit = self.until_steady
        return {
            "users": list(self.users) or [1],
            "databases": self.databases,
            "warmup_s": parse_seconds(self.warmup, none=True),
            "until_steady_s": None if limit is None else parse_seconds(limit),
            "think": self.think,
            "home": self.home,
            "mode": self.mode,
            "reconnect_s": parse_seconds(self.reconnect),
        }

"""Levels of transactions: users, duration, pacing and placement."""

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
        users: Users of each level; empty for one level of one user.
        duration: Measured time per level; None for the default.
        until_steady: Extend until the last ``duration`` is steady; give up after this long.
        confirm_limit: Test the bottleneck of the best level by changing its resource.
        reconnect: How long users try to reconnect to a lost server.
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
    confirm_limit: bool = False

    def duration_s(self, *, searched: bool) -> float:
        """Measured seconds per level; windows of a search are shorter by default."""
        return parse_seconds(self.duration or ("15s" if searched else "60s"))

    def require_levels(self, duration_s: float) -> None:
        """Refuses repeated users, and a steadiness limit below the duration of a level.

        Raises:
            UsageError: With the option.
        """
        if len(set(self.users)) < len(self.users):
            raise UsageError("Give each number of --users once.")
        if self.until_steady is not None and parse_seconds(self.until_steady) < duration_s:
            raise UsageError("--until-steady must not be shorter than --duration.")

    def require_able(self, workload: Workload) -> None:
        """Refuses modes and homes that the workload does not support.

        Raises:
            UsageError: With the supported ones.
        """
        able = workload.transactions
        asked = (("--mode", self.mode, able.modes), ("--home", self.home, able.homes))
        for option, value, known in asked:
            if value not in known:
                message = (
                    f"{workload.name} does not support {option} {value}. Supported: "
                    f"{', '.join(known)}."
                )
                raise UsageError(message)

    def levels_record(self) -> dict[str, Any]:
        """The fields for ``plan`` in the bundle; a rate file may still change the duration."""
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

"""Levels of transactions: users, duration, pacing and placement."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from dyno.config.units import parse_seconds
from dyno.contracts import databases as several
from dyno.contracts.workload import Workload
from dyno.errors import UsageError
from dyno.plans.fields import Plan, Several, Time, TimeOrNone, within

WARMUP_S = 5.0
"""Default warm-up, seconds."""
SEARCHED_S = 15.0
"""Default measured seconds per load of a search."""
_CYCLES = 3
"""Mean pauses of a user after which those who began together no longer act together."""

MODES = ("client", "procedure")
HOMES = ("fixed", "random", "all")
USERS = (1, 100_000)
DATABASES = (1, several.MOST)


def usual_warmup_s(*, think: bool, pause_s: float) -> float:
    """Default seconds under load before a measurement.

    Users with think times begin together: transactions with short ones come first, so that the
    mix is another one at first.

    Args:
        think: Whether users think.
        pause_s: Mean keying plus think time of a transaction, seconds.
    """
    return max(WARMUP_S, _cycles_s(think, pause_s))


def _cycles_s(think: bool, pause_s: float) -> float:
    return float(math.ceil(_CYCLES * pause_s)) if think else 0.0


class Levels(Plan):
    """Levels of load.

    Attributes:
        users: Users of each level; empty for one level of one user.
        duration: Measured time per level; None for the default.
        warmup: Time under load before it; None for the default.
        until_steady: Extend until the last ``duration`` is steady; give up after this long.
        confirm_limit: Test the bottleneck of the best level by changing its resource.
        reconnect: How long users try to reconnect to a lost server.
    """

    users: Annotated[tuple[Annotated[int, within(*USERS)], ...], Several] = ()
    databases: Annotated[int, within(*DATABASES)] = 1
    duration: Time | None = None
    warmup: TimeOrNone | None = None
    until_steady: Time | None = None
    think: bool = False
    home: Literal["fixed", "random", "all"] = "random"
    mode: Literal["client", "procedure"] = "client"
    reconnect: Time = "5s"
    confirm_limit: bool = False

    def duration_s(self, *, searched: bool, pause_s: float = 0.0) -> float:
        """Measured seconds per level; windows of a search are shorter by default.

        Args:
            searched: Whether it is a window of a search.
            pause_s: Mean keying plus think time of a transaction, seconds.
        """
        if self.duration is not None:
            return parse_seconds(self.duration)
        return max(SEARCHED_S, _cycles_s(self.think, pause_s)) if searched else 60.0

    def warmup_s(self, pause_s: float = 0.0) -> float:
        """Seconds under load before each measurement."""
        if self.warmup is None:
            return usual_warmup_s(think=self.think, pause_s=pause_s)
        return parse_seconds(self.warmup, none=True)

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
        if self.think and not able.pause_s:
            raise UsageError(
                f"{workload.called} has no think times. Omit --think; --rate sets another pace."
            )
        asked = (("--mode", self.mode, able.modes), ("--home", self.home, able.homes))
        for option, value, known in asked:
            if value not in known:
                message = (
                    f"{workload.called} does not support {option} {value}. Supported: "
                    f"{', '.join(known)}."
                )
                raise UsageError(message)

    def levels_record(self, pause_s: float) -> dict[str, Any]:
        """The fields for ``plan`` in the bundle; a rate file may still change the duration."""
        limit = self.until_steady
        return {
            "users": list(self.users) or [1],
            "databases": self.databases,
            "warmup_s": self.warmup_s(pause_s),
            "until_steady_s": None if limit is None else parse_seconds(limit),
            "think": self.think,
            "home": self.home,
            "mode": self.mode,
            "reconnect_s": parse_seconds(self.reconnect),
        }

"""Options of transactions: how many users, where, for how long, and how they work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from dyno.cli._options import collected, databases_option, parse_seconds
from dyno.cli._strictly import TIME, TIME_OR_NONE

if TYPE_CHECKING:
    from dyno.contracts.workload import Workload

MODES = ("client", "procedure")
HOMES = ("fixed", "random", "all")


@dataclass(frozen=True)
class Levels:
    """What the command line holds of levels of load, unread."""

    users: tuple[int, ...]
    databases: int
    duration: str | None
    warmup: str
    until_steady: str | None
    think: bool
    home: str
    mode: str
    reconnect: str

    def duration_s(self, *, searched: bool) -> float:
        """How long a level is measured; windows of a search are shorter unless told."""
        return parse_seconds(self.duration or ("15s" if searched else "60s"))

    def require(self, duration_s: float) -> None:
        """Refuses numbers that make no sense beside a level of so many seconds.

        Raises:
            UsageError: Naming them.
        """
        from dyno.errors import UsageError

        if len(set(self.users)) < len(self.users):
            raise UsageError("Give each number of --users once.")
        if self.until_steady is not None and parse_seconds(self.until_steady) < duration_s:
            raise UsageError("--until-steady must not be shorter than --duration.")

    def require_able(self, workload: Workload) -> None:
        """Refuses what the workload's transactions cannot do.

        Raises:
            UsageError: With what they can.
        """
        from dyno.errors import UsageError

        able = workload.transactions
        asked = (("--mode", self.mode, able.modes), ("--home", self.home, able.homes))
        for option, value, known in asked:
            if value not in known:
                message = f"{workload.name} has no {option} {value}. Known: {', '.join(known)}."
                raise UsageError(message)

    def record(self) -> dict[str, Any]:
        """For the plan of the bundle; the duration may yet be that of a file with rates.

        Raises:
            UsageError: If a time is none.
        """
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


options = collected(
    Levels,
    "levels",
    click.option(
        "--users",
        type=click.IntRange(1, 100_000),
        multiple=True,
        help="Users; repeat for levels.  [default: 1]",
    ),
    databases_option,
    click.option(
        "--duration", type=TIME, help="Measured time a level.  [default: 60s; 15s with --find-max]"
    ),
    click.option(
        "--warmup",
        type=TIME_OR_NONE,
        default="5s",
        show_default=True,
        help="Time before measuring.",
    ),
    click.option(
        "--until-steady",
        type=TIME,
        metavar="LIMIT",
        help="Go on until a stretch as long as --duration is steady, at most so long.",
    ),
    click.option("--think", is_flag=True, help="Users key and think as the workload prescribes."),
    click.option(
        "--home",
        type=click.Choice(HOMES),
        default="random",
        show_default=True,
        help="Warehouse of a user: always one, one drawn each time, all in turn.",
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        default=MODES[0],
        show_default=True,
        help="Statements of the client, or procedures in the database.",
    ),
    click.option(
        "--reconnect",
        type=TIME,
        default="5s",
        show_default=True,
        help="Users who lose the server try that long to come back.",
    ),
)
"""Adds them, and passes them as ``levels``."""

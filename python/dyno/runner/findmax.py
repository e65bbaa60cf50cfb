"""A search for the most load inside limits: what is asked, and the plan that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from dyno.config.units import digits, parse_seconds, seconds_text
from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.contracts.workload import Workload
    from dyno.criteria import Criterion
    from dyno.decide.findmax import By, Range

WINDOW_S = 15.0
"""Seconds measured at each load unless told."""

_OVERHEAD_S = 1.0
_FIRST_RATE = 10.0
_SESSIONS = 32


@dataclass(frozen=True)
class Asked:
    """What the command line holds of a search, unread."""

    by: str | None
    slo: tuple[str, ...]
    max_users: int | None
    max_rate: float | None
    time_limit: str | None
    dry_run: bool

    def of(self, workload: Workload, settings: dict[str, Any]) -> Search | None:
        """The search that is asked for; None if none is.

        Args:
            workload: What is driven.
            settings: The rest of the command line: ``users`` as given, ``databases``,
                ``warmup_s`` and ``duration_s``.

        Raises:
            UsageError: If it makes no sense.
        """
        from dyno.criteria import defaults, metrics, parse_all
        from dyno.decide.findmax import Range

        if self.by is None:
            self._require_alone()
            return None
        by = cast("By", self.by)
        if workload.kind != "oltp":
            raise UsageError(f"--find-max drives transactions; {workload.name} has queries.")
        given: tuple[int, ...] = settings["users"]
        if len(given) > 1:
            raise UsageError(
                "--find-max takes one --users: where it starts, or with which sessions."
            )
        if by == "users" and self.max_rate is not None:
            raise UsageError("--max-rate is for --find-max rate.")
        if by == "rate" and self.max_users is not None:
            raise UsageError("--max-users is for --find-max users.")
        slo = parse_all(self.slo, metrics(workload.operations)) or defaults(workload.operations)
        if by == "users":
            where = Range(by, float(given[0] if given else 1), float(self.max_users or 1024))
        else:
            where = Range(by, _FIRST_RATE, self.max_rate or 1e6)
        if where.start > where.most:
            start = f"--users {where.start:g}" if by == "users" else f"{where.start:g}/s"
            raise UsageError(
                f"The search starts at {start}, which is more than --max-{by} {where.most:g}."
            )
        search = Search(
            where,
            tuple(slo),
            explicit=bool(self.slo),
            sessions=given[0] if given else _SESSIONS,
            warmup_s=settings["warmup_s"],
            window_s=settings["duration_s"],
            time_limit_s=parse_seconds(self.time_limit or "30m"),
            dry_run=self.dry_run,
            databases=settings["databases"],
        )
        if search.time_limit_s < 2 * search.step_s:
            raise UsageError(
                f"--time-limit must leave room for two windows: {seconds_text(2 * search.step_s)}."
            )
        return search

    def _require_alone(self) -> None:
        for word, value in (
            ("--slo", self.slo),
            ("--max-users", self.max_users),
            ("--max-rate", self.max_rate),
            ("--time-limit", self.time_limit),
            ("--dry-run", self.dry_run),
        ):
            if value:
                raise UsageError(f"{word} is for --find-max.")


@dataclass(frozen=True)
class Search:
    """A search for the most load inside limits.

    Attributes:
        slo: The limits.
        explicit: Whether the user gave them; of the usual ones those without data are left out.
        sessions: Sessions that serve a rate.
        window_s: Measured time at each load.
        databases: In how many at once; users are those of each, a rate is that of all.
    """

    where: Range
    slo: tuple[Criterion, ...]
    explicit: bool
    sessions: int
    warmup_s: float
    window_s: float
    time_limit_s: float
    dry_run: bool
    databases: int = 1

    @property
    def step_s(self) -> float:
        """What one window takes."""
        return self.warmup_s + self.window_s + _OVERHEAD_S

    @property
    def windows(self) -> int:
        """How many windows it takes at most, if all goes by plan."""
        return self.where.most_windows()

    def load_text(self, load: float) -> str:
        """``12 users``, ``150/s``."""
        if self.where.by == "rate":
            return f"{digits(load)}/s"
        each = " each" if self.databases > 1 else ""
        return f"{load:g} user{'' if load == 1 else 's'}{each}"

    def plan(self) -> list[str]:
        """What it will do, in lines."""
        rate = self.where.by == "rate"
        limits = " and ".join(str(limit) for limit in self.slo)
        span = self.step_s * self.windows
        factor = 4 if rate else 2
        most_of = "transactions a second" if rate else "users"
        at_once = "" if self.databases == 1 else f" of {self.databases} databases at once"
        start, most = self.load_text(self.where.start), self.load_text(self.where.most)
        return [
            f"Search for the most {most_of}{at_once} with {limits}:",
            f"  from {start} times {factor} until a limit breaks, at most {most}"
            + (f", served by {self.sessions} sessions" if rate else ""),
            f"  then halve the gap until it is within {100 * self.where.resolution:g} %"
            + ("" if rate else " or one user"),
            "  then measure the largest that keeps the limits once more",
            f"  {self.windows} windows at most of {seconds_text(self.window_s)} after "
            f"{seconds_text(self.warmup_s)} of warm-up: {seconds_text(span)}"
            f" (--time-limit {seconds_text(self.time_limit_s)})",
        ]

    def record(self) -> dict[str, Any]:
        """For the plan of the bundle."""
        return {
            "by": self.where.by,
            "slo": [limit.record() for limit in self.slo],
            "start": self.where.start,
            "most": self.where.most,
            "resolution": self.where.resolution,
            "sessions": self.sessions if self.where.by == "rate" else None,
            "databases": self.databases,
            "time_limit_s": self.time_limit_s,
        }

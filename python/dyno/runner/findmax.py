"""Options and plan of a search for the maximum load within limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dyno.bundle.phases.search import Limit, SearchDetail
from dyno.config.units import digits, parse_seconds, seconds_text
from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.contracts.workload import Workload
    from dyno.criteria import Criterion
    from dyno.decide.findmax import Range
    from dyno.plans.searching import Searching

_OVERHEAD_S = 1.0
_FIRST_RATE = 10.0
"""Of each database."""
_SESSIONS = 32
_TIME_LIMIT_S = 1800.0
_REPEATS = 1.25
"""Windows of a search with those that are repeated, per window that it needs at most."""


@dataclass(frozen=True)
class Search:
    """A search for the maximum load within limits.

    Attributes:
        slo: The limits.
        explicit: Whether the user gave the limits. Default limits without data are dropped.
        sessions: Sessions that serve a rate.
        window_s: Measurement time at each load.
        databases: Number of databases under load. Users are per database; a rate is the total.
    """

    where: Range
    slo: tuple[Criterion, ...]
    explicit: bool
    sessions: int
    warmup_s: float
    window_s: float
    time_limit_s: float
    databases: int = 1

    @property
    def step_s(self) -> float:
        """Duration of one window."""
        return self.warmup_s + self.window_s + _OVERHEAD_S

    @property
    def windows(self) -> int:
        """Maximum number of windows, without repeats."""
        return self.where.most_windows()

    def load_text(self, load: float) -> str:
        """Formats a load, such as ``12 users`` or ``150/s``."""
        if self.where.by == "rate":
            return f"{digits(load)}/s"
        each = " each" if self.databases > 1 else ""
        return f"{load:g} user{'' if load == 1 else 's'}{each}"

    def plan(self) -> list[str]:
        """Returns the lines that describe the search."""
        rate = self.where.by == "rate"
        limits = " and ".join(str(limit) for limit in self.slo)
        span = self.step_s * self.windows
        factor = 4 if rate else 2
        most_of = "transactions per second" if rate else "users"
        at_once = "" if self.databases == 1 else f" in {self.databases} databases"
        start, most = self.load_text(self.where.start), self.load_text(self.where.most)
        return [
            f"Search for the maximum {most_of}{at_once} with {limits}:",
            f"  grow from {start} by {factor} until a limit fails, at most {most}"
            + (f", served by {self.sessions} sessions" if rate else ""),
            f"  bisect until the gap is within {100 * self.where.resolution:g} %"
            + ("" if rate else " or one user"),
            "  measure the largest passing load again",
            f"  at most {self.windows} windows of {seconds_text(self.window_s)} after "
            f"{seconds_text(self.warmup_s)} warm-up: {seconds_text(span)}"
            f" (--time-limit {seconds_text(self.time_limit_s)})",
        ]

    def detail(self) -> partial[SearchDetail]:
        """Returns the detail of the search phase at its start."""
        return partial(
            SearchDetail,
            by=self.where.by,
            slo=tuple(Limit(**limit.record()) for limit in self.slo),
            start=self.where.start,
            most=self.where.most,
            resolution=self.where.resolution,
            sessions=self.sessions if self.where.by == "rate" else None,
            databases=self.databases,
            time_limit_s=self.time_limit_s,
        )

    def record(self) -> dict[str, Any]:
        """Returns the record for the plan in the bundle."""
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


def search_of(asked: Searching, workload: Workload, settings: dict[str, Any]) -> Search | None:
    """Returns the requested search; None if there is none.

    Args:
        asked: The plan.
        workload: The workload.
        settings: The rest of the plan: ``users`` as given, ``databases``, ``warmup_s`` and
            ``duration_s``.

    Raises:
        UsageError: If the search is invalid.
    """
    from dyno.criteria import defaults, metrics, parse_all
    from dyno.decide.findmax import Range

    if asked.find_max is None:
        asked.require_no_search()
        return None
    by = asked.find_max
    if workload.kind != "oltp":
        raise UsageError(f"--find-max needs a transaction workload; {workload.called} has queries.")
    given: tuple[int, ...] = settings["users"]
    if len(given) > 1:
        raise UsageError("--find-max takes one value of --users: the first load, or the sessions.")
    if by == "users" and asked.max_rate is not None:
        raise UsageError("--max-rate is for --find-max rate.")
    if by == "rate" and asked.max_users is not None:
        raise UsageError("--max-users is for --find-max users.")
    slo = parse_all(asked.slo, metrics(workload.operations)) or defaults(workload.transactions)
    if by == "users":
        where = Range(by, float(given[0] if given else 1), float(asked.max_users or 1024))
    else:
        highest = asked.max_rate or 1e6
        where = Range(by, min(_FIRST_RATE * settings["databases"], highest), highest)
    if where.start > where.most:
        start, most = f"--users {where.start:g}", f"--max-users {where.most:g}"
        raise UsageError(f"The search starts at {start}, above {most}.")
    search = Search(
        where,
        tuple(slo),
        explicit=bool(asked.slo),
        sessions=given[0] if given else _SESSIONS,
        warmup_s=settings["warmup_s"],
        window_s=settings["duration_s"],
        time_limit_s=_TIME_LIMIT_S,
        databases=settings["databases"],
    )
    usual_s = max(_TIME_LIMIT_S, math.ceil(_REPEATS * search.windows * search.step_s))
    limit_s = usual_s if asked.time_limit is None else parse_seconds(asked.time_limit)
    search = replace(search, time_limit_s=limit_s)
    if search.time_limit_s < 2 * search.step_s:
        raise UsageError(f"--time-limit must allow two windows: {seconds_text(2 * search.step_s)}.")
    return search

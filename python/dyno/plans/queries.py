"""Tests of queries: which, with which parameters and caches, and what is kept of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from dyno.config.units import parse_seconds
from dyno.errors import UsageError
from dyno.plans.fields import Plan, Time, within

if TYPE_CHECKING:
    from dyno.contracts.meter import Metering

TESTS = ("power", "throughput", "full")
PARAMETERS = ("validation", "seeded")
STREAMS = (1, 1000)
EACH = "cold-each-query"


class Queries(Plan):
    """Tests of queries; None where nothing was said.

    Attributes:
        streams: Users of the throughput test, and beside maintenance.
        refresh: Whether the refresh functions run.
        timeout: When a query is given up.
        plans: Whether the plan of each is kept; ``analyse_plans`` runs each once more for it.
        query_figures: Whether the engine is asked what each query read, spilled and held.
    """

    negated: ClassVar[frozenset[str]] = frozenset({"refresh", "query_figures"})

    test: Literal["power", "throughput", "full"] | None = None
    streams: Annotated[int, within(*STREAMS)] | None = None
    parameters: Literal["validation", "seeded"] | None = None
    refresh: bool | None = None
    no_warming: bool = False
    cold: bool = False
    cold_each_query: bool = False
    timeout: Time = "10m"
    plans: bool = False
    analyse_plans: bool = False
    query_figures: bool | None = None

    @property
    def has_streams(self) -> bool:
        """Whether a throughput test is among it."""
        return self.test in ("throughput", "full")

    @property
    def has_power(self) -> bool:
        """Whether a power test is among it."""
        return self.test != "throughput"

    @property
    def refreshes(self) -> bool:
        """Whether the refresh functions run: by default in all but the power test alone."""
        return self.has_streams if self.refresh is None else self.refresh

    @property
    def drawn(self) -> Literal["validation", "seeded"]:
        """Which parameters: the fixed ones by default in the power test alone."""
        if self.parameters is None:
            return "seeded" if self.has_streams else "validation"
        return self.parameters

    def tests_record(self) -> dict[str, Any]:
        """For the bundle."""
        return {
            "test": self.test or "power",
            "streams": self.streams,
            "parameters": self.drawn,
            "refresh": self.refreshes,
        }

    def require_streams(self, during: str | None) -> None:
        """For a number of users where there is but one.

        Raises:
            UsageError: If it was given.
        """
        if self.streams is not None and not self.has_streams and during is None:
            raise UsageError("--streams is for --test throughput, --test full or --during NAME.")

    def require_power(self, option: str) -> None:
        """For a restart of the engine between two queries, which only one session survives.

        Raises:
            UsageError: If there are several.
        """
        if self.has_streams:
            raise UsageError(f"{option} is for --test power: several users share the caches.")
        if self.refreshes:
            raise UsageError(
                f"{option} and --refresh exclude each other: the engine is closed before each "
                "query, and with it the session of the refresh functions. Use --cold."
            )

    @property
    def cache(self) -> str:
        """How the caches are before the measurement, in the bundle's word.

        Raises:
            UsageError: If options exclude each other.
        """
        # Only the power test has a pass for warming, which emptied caches go without.
        unwarmed = self.no_warming or not (self.has_power or self.cold)
        return cache_word(cold=self.cold, each=self.cold_each_query, no_warming=unwarmed)

    @property
    def metering(self) -> Metering:
        """Which queries the engine counts bytes and memory for.

        Cold queries wait for storage, which hides what counting costs.
        """
        if self.query_figures is None:
            return "always" if self.cache.startswith("cold") else "untimed"
        return "always" if self.query_figures else "never"

    def queries_record(self) -> dict[str, Any]:
        """For the plan of the bundle.

        Raises:
            UsageError: If the time is none, or options exclude each other.
        """
        if self.cold_each_query:
            self.require_power("--cold-each-query")
        return {
            "cache": self.cache,
            "timeout_s": parse_seconds(self.timeout),
            "plans": self.plans or self.analyse_plans,
            "analyse_plans": self.analyse_plans,
            "metering": self.metering,
        }


def cache_word(*, cold: bool, each: bool, no_warming: bool) -> str:
    """The word for what was asked.

    Raises:
        UsageError: If the options exclude each other.
    """
    if cold and each:
        raise UsageError("--cold and --cold-each-query exclude each other.")
    if (cold or each) and no_warming:
        raise UsageError(
            "--cold and --no-warming exclude each other: a cold run is always the first pass."
        )
    if cold or each:
        return EACH if each else "cold"
    return "first" if no_warming else "warm"

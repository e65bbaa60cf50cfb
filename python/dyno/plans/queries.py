"""Query tests: kind, parameters, caches and recorded data."""

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
    """Query tests; None stands for the default.

    Attributes:
        streams: Streams of the throughput test, and during maintenance.
        refresh: Whether the refresh functions run.
        timeout: Time limit per query.
        plans: Whether to save query plans; ``analyse_plans`` adds actual times.
        query_figures: Whether to record bytes read, spilled and memory per query.
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
        """Whether there is a throughput test."""
        return self.test in ("throughput", "full")

    @property
    def has_power(self) -> bool:
        """Whether there is a power test."""
        return self.test != "throughput"

    @property
    def refreshes(self) -> bool:
        """Whether the refresh functions run; by default in tests with streams."""
        return self.has_streams if self.refresh is None else self.refresh

    @property
    def drawn(self) -> Literal["validation", "seeded"]:
        """The kind of parameters; by default seeded in tests with streams."""
        if self.parameters is None:
            return "seeded" if self.has_streams else "validation"
        return self.parameters

    def tests_record(self) -> dict[str, Any]:
        """The fields for the bundle."""
        return {
            "test": self.test or "power",
            "streams": self.streams,
            "parameters": self.drawn,
            "refresh": self.refreshes,
        }

    def require_streams(self, during: str | None) -> None:
        """Refuses --streams in a test of one stream.

        Raises:
            UsageError: If it was given.
        """
        if self.streams is not None and not self.has_streams and during is None:
            raise UsageError("--streams requires --test throughput, --test full or --during TASK.")

    def require_power(self, option: str) -> None:
        """Refuses a restart of the engine between queries if several sessions are open.

        Raises:
            UsageError: With the reason.
        """
        if self.has_streams:
            raise UsageError(
                f"{option} requires --test power: concurrent streams share the caches."
            )
        if self.refreshes:
            raise UsageError(
                f"{option} and --refresh cannot be combined: closing the engine before each query "
                "also closes the session of the refresh functions. Use --cold."
            )

    @property
    def cache(self) -> str:
        """The state of the caches before the measurement, as recorded in the bundle.

        Raises:
            UsageError: If options cannot be combined.
        """
        # Only the power test has a warm-up pass. A cold run skips it.
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
        """The fields for ``plan`` in the bundle.

        Raises:
            UsageError: If the time is invalid, or options cannot be combined.
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
    """The recorded name of a cache state.

    Raises:
        UsageError: If the options cannot be combined.
    """
    if cold and each:
        raise UsageError("--cold and --cold-each-query cannot be combined.")
    if (cold or each) and no_warming:
        raise UsageError(
            "--cold and --no-warming cannot be combined: a cold run is always the first pass."
        )
    if cold or each:
        return EACH if each else "cold"
    return "first" if no_warming else "warm"

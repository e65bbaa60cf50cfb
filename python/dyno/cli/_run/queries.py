"""Options of queries: which tests, with which parameters and caches, and what is kept of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from dyno.cli._options import collected, parse_seconds
from dyno.cli._strictly import TIME
from dyno.runner.dss import PARAMETERS, TESTS, Choice

if TYPE_CHECKING:
    from dyno.contracts.meter import Metering


@dataclass(frozen=True)
class Queries:
    """What the command line holds of queries, unread."""

    test: str | None
    streams: int | None
    parameters: str | None
    refresh: bool | None
    no_warming: bool
    cold: bool
    cold_each_query: bool
    timeout: str
    plans: bool
    analyse_plans: bool
    query_figures: bool | None

    @property
    def choice(self) -> Choice:
        """The tests."""
        return Choice(self.test, self.streams, self.parameters, self.refresh)

    @property
    def cache(self) -> str:
        """How the caches are before the measurement, in the bundle's word.

        Raises:
            UsageError: If options exclude each other.
        """
        from dyno.runner.cold import cache_word

        # Only the power test has a pass for warming, which emptied caches go without.
        unwarmed = self.no_warming or not (self.choice.has_power or self.cold)
        return cache_word(cold=self.cold, each=self.cold_each_query, no_warming=unwarmed)

    @property
    def metering(self) -> Metering:
        """Which queries the engine counts bytes and memory for.

        Cold queries wait for storage, which hides what counting costs.
        """
        if self.query_figures is None:
            return "always" if self.cache.startswith("cold") else "untimed"
        return "always" if self.query_figures else "never"

    def record(self) -> dict[str, Any]:
        """For the plan of the bundle.

        Raises:
            UsageError: If the time is none, or options exclude each other.
        """
        if self.cold_each_query:
            self.choice.require_power("--cold-each-query")
        return {
            "cache": self.cache,
            "timeout_s": parse_seconds(self.timeout),
            "plans": self.plans or self.analyse_plans,
            "analyse_plans": self.analyse_plans,
            "metering": self.metering,
        }


options = collected(
    Queries,
    "queries",
    click.option(
        "--test",
        type=click.Choice(TESTS),
        help="One user, several at once, or both.  [default: power]",
    ),
    click.option(
        "--streams",
        type=click.IntRange(1, 1000),
        help="Users of the throughput test, and beside --during.  [default: by scale, 2 at 1; "
        "beside --during without that test 1]",
    ),
    click.option(
        "--parameters",
        type=click.Choice(PARAMETERS),
        help="The fixed parameters, or drawn by --seed.  [default: validation for --test power, "
        "else seeded]",
    ),
    click.option(
        "--refresh/--no-refresh",
        default=None,
        help="Also insert and delete orders.  [default: not with --test power]",
    ),
    click.option("--no-warming", is_flag=True, help="Power test: measure the first pass."),
    click.option("--cold", is_flag=True, help="Begin with caches that are proven empty."),
    click.option("--cold-each-query", is_flag=True, help="Power test: so before each query."),
    click.option(
        "--timeout", type=TIME, default="10m", show_default=True, help="Give up a query after."
    ),
    click.option("--plans", is_flag=True, help="Keep the plan of each."),
    click.option("--analyse-plans", is_flag=True, help="Run each once more for its plan."),
    click.option(
        "--query-figures/--no-query-figures",
        default=None,
        help="Ask the engine what each query read, spilled and held: always, or never.  "
        "[default: not where that slows timed queries]",
    ),
)
"""Adds them, and passes them as ``queries``."""

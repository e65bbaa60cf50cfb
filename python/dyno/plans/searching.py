"""A search for the highest load within limits."""

from __future__ import annotations

from typing import Annotated, Literal

from dyno.config.rates import MOST_PER_S
from dyno.errors import UsageError
from dyno.plans.fields import Plan, Texts, Time, within
from dyno.plans.levels import USERS

LOADS = ("users", "rate")


class Searching(Plan):
    """A maximum load search.

    Attributes:
        find_max: What to maximise; None for no search.
        slo: The limits; empty for the default limits.
        time_limit: Time after which it stops; None for the default.
    """

    find_max: Literal["users", "rate"] | None = None
    slo: Texts = ()
    max_users: Annotated[int, within(*USERS)] | None = None
    max_rate: Annotated[float, within(0, MOST_PER_S, above=True)] | None = None
    time_limit: Time | None = None

    def require_no_search(self) -> None:
        """Refuses options of a search.

        Raises:
            UsageError: With the option.
        """
        for name in ("slo", "max_users", "max_rate", "time_limit"):
            if self.given(name):
                raise UsageError(f"{self.option(name)} requires --find-max.")

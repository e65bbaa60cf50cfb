"""A search for the most load inside limits."""

from __future__ import annotations

from typing import Annotated, Literal

from dyno.config.rates import MOST_PER_S
from dyno.errors import UsageError
from dyno.plans.fields import Plan, Texts, Time, within
from dyno.plans.levels import USERS

LOADS = ("users", "rate")


class Searching(Plan):
    """A search.

    Attributes:
        find_max: Of what the most is looked for; None for no search.
        slo: The limits; the usual ones if none is given.
        time_limit: When it stops; None for the usual.
    """

    find_max: Literal["users", "rate"] | None = None
    slo: Texts = ()
    max_users: Annotated[int, within(*USERS)] | None = None
    max_rate: Annotated[float, within(0, MOST_PER_S, above=True)] | None = None
    time_limit: Time | None = None

    def require_no_search(self) -> None:
        """Refuses what is for a search alone.

        Raises:
            UsageError: Naming it.
        """
        for name in ("slo", "max_users", "max_rate", "time_limit"):
            if self.given(name):
                raise UsageError(f"{self.option(name)} is for --find-max.")

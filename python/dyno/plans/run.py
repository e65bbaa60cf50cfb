"""A run of queries or transactions against loaded data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from dyno.errors import UsageError
from dyno.plans.beside import Beside
from dyno.plans.engine import Engine
from dyno.plans.fields import MOST_SEED, within
from dyno.plans.levels import Levels
from dyno.plans.limits import Criteria
from dyno.plans.pace import Pace
from dyno.plans.queries import Queries
from dyno.plans.searching import Searching
from dyno.plans.together import require_together

if TYPE_CHECKING:
    from dyno.config.rates import Rate
    from dyno.contracts.workload import Workload

OF_TRANSACTIONS = (Levels, Pace)
OF_QUERIES = (Queries,)
"""Options that belong to one kind of workload; those of the other are refused."""


class RunPlan(Engine, Beside, Queries, Searching, Criteria, Pace, Levels):
    """What ``dyno run`` is asked for.

    Attributes:
        target: URL of the database, or ``embedded:NAME``.
        scale: The scale that must be loaded, if any.
    """

    verb: ClassVar[str] = "run"
    arguments: ClassVar[tuple[str, ...]] = ("workload",)

    workload: str
    target: str
    scale: float | None = None
    seed: Annotated[int, within(0, MOST_SEED)] = 1

    def require_own(self, workload: Workload) -> None:
        """Refuses options of the other kind of workload.

        An option that is taken and does nothing makes a reader believe in a measurement that was
        not made.

        Raises:
            UsageError: With what is meant instead.
        """
        others = OF_TRANSACTIONS if workload.kind == "dss" else OF_QUERIES
        names = [name for part in others for name in part.model_fields if name not in _SHARED]
        for name in filter(self.given, names):
            value = getattr(self, name)
            option = f"--no-{self.option(name)[2:]}" if value is False else self.option(name)
            if workload.kind != "dss":
                raise UsageError(
                    f"{option} is for queries; {workload.name} has none. Leave it out."
                )
            if name == "users":
                raise UsageError(
                    f"--users is for transactions; several users of {workload.name} are "
                    "--test throughput --streams N."
                )
            if name == "duration":
                if self.during is not None:
                    continue
                raise UsageError(
                    f"--duration is for transactions and --during; the queries of {workload.name} "
                    "last as long as they take."
                )
            raise UsageError(
                f"{option} is for transactions; {workload.name} has none. Leave it out."
            )
        for name in ("during_limit", "during_database"):
            if self.given(name) and self.during is None:
                raise UsageError(
                    f"{self.option(name)} is about what --during NAME begins; give that, too."
                )

    def paced(self) -> tuple[list[Rate], float]:
        """The rates, a level each, and the seconds that a level is measured.

        Raises:
            UsageError: If options exclude each other, or a rate cannot be read.
        """
        searched = self.find_max is not None
        given = self.duration is not None
        rates, duration_s = self.rates(self.duration_s(searched=searched), given=given)
        require_together(
            {
                "--rate": bool(rates),
                "a --rate that changes": any(rate.changes for rate in rates),
                "--think": self.think,
                "--until-steady": self.until_steady is not None,
                "--during": self.during is not None,
                "--find-max": searched,
                "--find-max rate": self.find_max == "rate",
                "--criterion": bool(self.criterion),
            }
        )
        return rates, duration_s

    def record(self, rates: list[Rate], duration_s: float) -> dict[str, Any]:
        """For the plan of the bundle.

        Raises:
            UsageError: If options exclude each other.
        """
        return {
            "seed": self.seed,
            **self.levels_record(),
            "duration_s": duration_s,
            "rates": [rate.plan() for rate in rates],
            "arrivals": "poisson" if self.poisson else "fixed",
            **self.queries_record(),
            **self.beside_record(),
        }


_SHARED = frozenset(Engine.model_fields)

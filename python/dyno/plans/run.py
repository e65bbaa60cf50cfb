"""A run of queries or transactions against loaded data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from dyno import workloads
from dyno.errors import UsageError
from dyno.plans.beside import Beside
from dyno.plans.elsewhere import Elsewhere
from dyno.plans.engine import Engine
from dyno.plans.fields import MOST_SEED, within
from dyno.plans.flash import Accelerated
from dyno.plans.levels import Levels
from dyno.plans.limits import Criteria
from dyno.plans.pace import Pace
from dyno.plans.queries import Queries
from dyno.plans.searching import Searching
from dyno.plans.several import Several, Targets
from dyno.plans.together import require_together

if TYPE_CHECKING:
    from dyno.config.rates import Rate
    from dyno.contracts.workload import Workload

OF_TRANSACTIONS = (Levels, Pace)
OF_QUERIES = (Queries,)
"""Options for one kind of workload; the other kind refuses them."""


class RunPlan(
    Several, Elsewhere, Engine, Accelerated, Beside, Queries, Searching, Criteria, Pace, Levels
):
    """A plan for ``dyno run``.

    Attributes:
        workload: Its name, or several joined by ``+``.
        target: URLs of the databases, or ``embedded:NAME``.
        scale: The scale that must be loaded; None for any.
    """

    verb: ClassVar[str] = "run"
    arguments: ClassVar[tuple[str, ...]] = ("workload",)

    workload: str
    target: Targets
    scale: float | None = None
    seed: Annotated[int, within(0, MOST_SEED)] = 1

    @property
    def url(self) -> str:
        """The first target, or the only one."""
        return self.target[0]

    def require_own(self, workload: Workload) -> None:
        """Refuses options of the other kind of workload.

        An option without effect would suggest a measurement that did not happen.

        Raises:
            UsageError: With the option to use instead.
        """
        others = OF_TRANSACTIONS if workload.kind == "dss" else OF_QUERIES
        shared = _SHARED | _OF_BOTH
        names = [name for part in others for name in part.model_fields if name not in shared]
        for name in filter(self.given, names):
            value = getattr(self, name)
            option = f"--no-{self.option(name)[2:]}" if value is False else self.option(name)
            if workload.kind != "dss":
                raise UsageError(
                    f"{option} applies to queries; {workload.called} has none. Omit it."
                )
            if name == "duration":
                if self.during is not None:
                    continue
                raise UsageError(
                    f"--duration applies to transactions and --during; {workload.called} runs each "
                    "query to completion."
                )
            raise UsageError(
                f"{option} applies to transactions; {workload.called} has none. Omit it."
            )
        if self.refresh and workload.refresh is None:
            raise UsageError(f"{workload.called} has no refresh functions. Omit --refresh.")
        for name in ("during_limit", "during_database", "estimate_only"):
            if self.given(name) and self.during is None:
                raise UsageError(f"{self.option(name)} requires --during TASK.")

    def for_queries(self) -> RunPlan:
        """The plan with ``--users N`` as N streams. Several databases get a throughput test.

        Without refresh functions in the workload, tests with streams run without.

        Raises:
            UsageError: If options cannot be combined, or the workload has no refresh functions.
        """
        if workloads.named(self.workload).refresh is None:
            if self.refresh:
                raise UsageError(f"{self.workload} has no refresh functions; omit --refresh.")
            if self.refresh is None:
                return self.model_copy(update={"refresh": False}).for_queries()
        if not self.users and self.databases == 1:
            return self
        if self.users and self.streams is not None:
            raise UsageError("--users and --streams cannot be combined: both set the streams.")
        if len(self.users) > 1:
            raise UsageError("Give --users once: a run has one throughput test.")
        if self.test == "power" or (self.databases > 1 and self.test == "full"):
            option = "--users" if self.databases == 1 else "--databases"
            raise UsageError(f"{option} requires --test throughput: a power test has one user.")
        streams = self.users[0] if self.users else self.streams
        given = {"test": self.test or "throughput", "streams": streams, "users": ()}
        return self.model_copy(update=given)

    @property
    def _pause_s(self) -> float:
        return workloads.named(self.workload).transactions.pause_s

    def paced(self) -> tuple[list[Rate], float]:
        """The rates, one per level, and the measured seconds per level.

        Raises:
            UsageError: If options cannot be combined, or a rate is invalid.
        """
        searched = self.find_max is not None
        given = self.duration is not None
        rates, duration_s = self.rates(
            self.duration_s(searched=searched, pause_s=self._pause_s), given=given
        )
        require_together(
            {
                "--rate": bool(rates),
                "a changing --rate": any(rate.changes for rate in rates),
                "--think": self.think,
                "--until-steady": self.until_steady is not None,
                "--during": self.during is not None,
                "--confirm-limit": self.confirm_limit,
                "--find-max": searched,
                "--find-max rate": self.find_max == "rate",
                "--criterion": bool(self.criterion),
            }
        )
        return rates, duration_s

    def record(self, rates: list[Rate], duration_s: float) -> dict[str, Any]:
        """The fields for ``plan`` in the bundle.

        Raises:
            UsageError: If options cannot be combined.
        """
        return {
            "seed": self.seed,
            **self.levels_record(self._pause_s),
            "duration_s": duration_s,
            "rates": [rate.plan() for rate in rates],
            "arrivals": "poisson" if self.poisson else "fixed",
            **self.queries_record(),
            **self.beside_record(),
        }


_OF_BOTH = frozenset({"users", "databases"})
"""Options of transactions that queries have too."""

_SHARED = frozenset({*Engine.model_fields, *Elsewhere.model_fields})

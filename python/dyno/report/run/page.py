"""The input of the report's sections: a bundle with its estimates and findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from dyno import workloads
from dyno.bundle import check_names, metrics, mixes
from dyno.bundle.carriers import machine_of
from dyno.bundle.detail import Detail
from dyno.bundle.metrics import Level as LevelMetrics
from dyno.bundle.model import (
    Check,
    CriterionResult,
    Definition,
    Estimate,
    Finding,
    Phase,
    Run,
    those,
)
from dyno.bundle.observed import Series
from dyno.bundle.observed import sampled as all_sampled
from dyno.bundle.phases import PhaseKind
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.load import LoadDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.phases.search import SearchDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.series import Key
from dyno.contracts.databases import OWN
from dyno.contracts.transactions import Transactions
from dyno.contracts.workload import Workload
from dyno.report.kit.formats import target_title

D = TypeVar("D", bound=Detail)


@dataclass(frozen=True)
class Level:
    """A load level.

    Attributes:
        name: Its name in the bundle, such as ``users-4``.
        phase: Its phase; None if the bundle lacks it.
        operations: The operations that occurred.
    """

    name: str
    phase: Phase[OltpDetail] | None
    operations: tuple[str, ...]

    @property
    def metrics(self) -> LevelMetrics:
        """Its metrics."""
        return LevelMetrics(self.name)

    @property
    def is_part(self) -> bool:
        """Whether it is one of several databases whose total is another level."""
        return self.phase is not None and self.phase.detail.part_of is not None


def _in_order(phase: Phase[OltpDetail] | None, names: list[str]) -> tuple[str, ...]:
    """The operations of a level; of a replay, the most frequent first."""
    if phase is None or phase.detail.replayed is None:
        return tuple(names)
    classes = [one.operation for one in phase.detail.replayed.classes]
    places = {name: place for place, name in enumerate(classes)}
    return tuple(sorted(names, key=lambda name: places.get(name, len(places))))


@dataclass(frozen=True)
class LoadRate:
    """The speed of a load with a number of streams; None if it did not complete."""

    streams: int
    seconds: float | None
    rows_per_s: float | None
    mb_per_s: float | None
    gb_per_h: float | None


@dataclass(frozen=True)
class Page(metrics.FindsEstimates):
    """A bundle with its estimates and findings, and lookups for the sections."""

    bundle: Bundle
    estimates: tuple[Estimate, ...]
    findings: tuple[Finding, ...]
    rules: tuple[Definition, ...] = ()

    @classmethod
    def of(
        cls,
        bundle: Bundle,
        estimates: Iterable[Estimate],
        findings: Iterable[Finding],
        rules: Iterable[Definition] = (),
    ) -> Page:
        """The page of ``bundle``; ``rules`` are the validity and bottleneck rules."""
        return cls(bundle, tuple(estimates), tuple(findings), tuple(rules))

    @property
    def run(self) -> Run:
        """The bundle's run.json."""
        return self.bundle.run

    def resources(self, phase: Phase) -> metrics.Resources:
        """Returns the sampled metrics of a phase on the machine of its target."""
        return metrics.Resources(phase.name, machine=machine_of(self.run, phase.target))

    def phases(self, *kinds: PhaseKind) -> list[Phase]:
        """Phases of these kinds."""
        return [phase for phase in self.run.phases if phase.kind in kinds]

    def phases_of(self, detail: type[D]) -> list[Phase[D]]:
        """Phases with this type of detail."""
        return those(self.run.phases, detail)

    @property
    def loads(self) -> list[tuple[str, str]]:
        """The distinct pairs of workload and target of all loads."""
        pairs = [(phase.detail.workload, phase.target) for phase in self.phases_of(LoadDetail)]
        return list(dict.fromkeys((str(one), other) for one, other in pairs if one and other))

    def load_rates(self, workload: str, target: str) -> list[LoadRate]:
        """Rates of loads into a workload's first database in a target, by number of streams."""
        rates: dict[int, LoadRate] = {}
        for phase in self.phases_of(LoadDetail):
            streams = phase.detail.streams
            same = phase.target == target and phase.detail.workload == workload
            if same and phase.detail.database is None and streams is not None:
                at = metrics.Load(metrics.loaded(phase), target)
                rates[streams] = LoadRate(
                    streams,
                    self.value(at.seconds),
                    self.value(at.rows_per_s),
                    self.value(at.mb_per_s),
                    self.value(at.gb_per_h),
                )
        return [rates[streams] for streams in sorted(rates)]

    def title(self, target: str | None) -> str:
        """The product name of a target."""
        return target_title(self.run, target)

    @cached_property
    def series(self) -> dict[Key, Series]:
        """Every sampled series."""
        return all_sampled(self.bundle.table("samples"))

    @cached_property
    def checks(self) -> list[Check]:
        """The checks in the bundle."""
        return self.bundle.checks()

    @cached_property
    def query_targets(self) -> list[str]:
        """Targets that ran queries, in order."""
        found = metrics.Queries.targets(self.known)
        ran = [phase.target for phase in self.phases("dss") if phase.target in found]
        return list(dict.fromkeys([*ran, *found]))  # pyright: ignore[reportReturnType]

    def queries(self, target: str) -> dict[str, float]:
        """Seconds by query on ``target``."""
        return metrics.Queries(target).queries(self.known)

    @cached_property
    def levels(self) -> list[Level]:
        """Load levels with metrics, in order."""
        phases = {str(phase.detail.level): phase for phase in self.phases_of(OltpDetail)}
        return [
            Level(
                name,
                phases.get(name),
                _in_order(phases.get(name), metrics.Level(name).operations(self.known)),
            )
            for name in self.bundle.levels()
            if self.value(metrics.Level(name).tps) is not None
        ]

    def parts(self, level: str | None) -> list[tuple[Level, Phase[OltpDetail]]]:
        """The levels of the databases that ``level`` totals, with their phases."""
        phases = self.bundle.parts(level)
        return [
            (item, item.phase)
            for item in self.levels
            if item.phase is not None and item.phase in phases
        ]

    @cached_property
    def search(self) -> Phase[SearchDetail] | None:
        """The search for the maximum load within limits, if any."""
        return next(iter(self.phases_of(SearchDetail)), None)

    @cached_property
    def best_level(self) -> Level | None:
        """The level with the highest throughput; in a search, at the maximum.

        Windows in which a workload of several ran by itself do not count.
        """
        counted = self.search.detail.counted if self.search else None
        alone = mixes.alone(self.run)
        own = [one.name for one in self.levels if one.phase is None or one.phase.name not in alone]
        names = own if counted is None else counted
        return max(
            (level for level in self.levels if level.name in names),
            key=lambda level: self.value(level.metrics.tps) or 0.0,
            default=None,
        )

    @cached_property
    def criteria(self) -> list[CriterionResult]:
        """The results of the criteria by level."""
        return [item.result for item in self.findings if item.result is not None]

    @cached_property
    def queried(self) -> Workload | None:
        """The run's query workload; None if this version lacks it."""
        return workloads.of_kind(self.run.workloads, "dss")

    @cached_property
    def driven(self) -> Workload | None:
        """The run's transaction workload; None if this version lacks it."""
        return workloads.of_kind(self.run.workloads, "oltp")

    @property
    def transactions(self) -> Transactions:
        """The operations of that workload."""
        return workloads.driven(self.run.workloads)

    def operations_of(self, level: Level) -> Transactions:
        """The operations of the workload of a level; a run may have several."""
        own = level.phase.detail.workload if level.phase else None
        return workloads.driven([own] if own else self.run.workloads)

    def unpaced(self, level: Level) -> bool:
        """Whether a level exceeds the maximum with keying and think times."""
        return (self.value(level.metrics.paced_percent) or 0.0) > 100

    def scale(self, workload: str) -> float | None:
        """The scale at which a workload was loaded or run."""
        for phase in self.phases("load", "dss", "oltp"):
            detail = phase.detail
            if detail.workload != workload:
                continue
            if isinstance(detail, LoadDetail | DssDetail) and detail.scale is not None:
                return float(detail.scale)
            if isinstance(detail, OltpDetail) and detail.size is not None:
                return float(detail.size)
        return None

    def days(self, workload: str) -> int | None:
        """The initial days with which a workload was loaded."""
        details = [
            *(phase.detail for phase in self.phases_of(LoadDetail)),
            *(phase.detail for phase in self.phases_of(OltpDetail)),
        ]
        return next((one.days for one in details if one.workload == workload and one.days), None)

    def passed(self, start: str | tuple[str, ...], workload: str | None = None) -> bool | None:
        """Whether checks with this name prefix, of all or one workload, passed; None if none."""
        results = [
            check.passed for check in _of(self.checks, workload) if check.name.startswith(start)
        ]
        if False in results:
            return False
        return True if True in results else None

    @property
    def answer_checks(self) -> list[Check]:
        """Checks that verify answers; agreement among streams does not."""
        return [
            check
            for check in self.checks
            if check_names.compares(check.name)
            or (check.name.startswith(check_names.AMONG_STREAMS) and check.passed is False)
        ]

    def answers_of(self, workload: str) -> list[Check]:
        """Checks that verify the answers of one workload."""
        return _of(self.answer_checks, workload)

    @property
    def answers_equal(self) -> bool | None:
        """Whether answers equal those of other engines or sources; None if there are none."""
        results = [check.passed for check in self.answer_checks]
        if False in results:
            return False
        return True if True in results else None

    @property
    def unproven(self) -> bool:
        """Whether queries of a workload ran and their answers were not verified."""
        verified = {check.workload for check in self.answer_checks if check.passed is not None}
        return any(
            check.name == check_names.UNPROVEN and check.workload not in verified
            for check in self.checks
        )

    @property
    def query_notice(self) -> str:
        """The notice for query metrics."""
        return "" if self.queried is None else self.queried.notice

    @property
    def transaction_notice(self) -> str:
        """The notice for transaction metrics."""
        return "" if self.driven is None else self.driven.notice

    @property
    def query_scale(self) -> float | None:
        """The scale of the queries' data."""
        found = self.queried
        return None if found is None or not found.loads else self.scale(found.name)

    @property
    def own_title(self) -> str:
        """The title of the run's queries, if they are the user's own; else empty."""
        return _own_title(self.queried)

    @property
    def driven_scale(self) -> str:
        """The scale of the run's transactions, with their title if they are the user's own."""
        title, found = _own_title(self.driven), self.driven
        scale = None if found is None else self.scale(found.name)
        if found is None or scale is None:
            return title
        if not title:
            return found.transactions.units(scale)
        return f"{title}, scale {scale:g}" if found.loads else title

    @property
    def refreshes(self) -> bool:
        """Whether the run's query workload has refresh functions."""
        return self.queried is None or self.queried.refresh is not None

    def notice(self, workload: str) -> str:
        """The notice for metrics of a workload; empty if it has none."""
        found = workloads.known(workload)
        return "" if found is None else found.notice

    @property
    def verdict(self) -> Finding | None:
        """The verdict finding."""
        return next((item for item in self.findings if item.level == "verdict"), None)


def _own_title(workload: Workload | None) -> str:
    return workload.title if workload is not None and workload.name.startswith(OWN) else ""


def _of(checks: Iterable[Check], workload: str | None) -> list[Check]:
    """Those of one workload, and those of which no workload is known."""
    return [check for check in checks if workload is None or check.workload in (None, workload)]

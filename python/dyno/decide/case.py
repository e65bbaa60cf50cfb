"""What the rules look at: a bundle and the figures drawn from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from dyno.bundle import metrics
from dyno.bundle.detail import Detail
from dyno.bundle.model import Check, Estimate, Phase, those
from dyno.bundle.phases.io import IoDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.phases.search import SearchDetail
from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from dyno.profiles.steps import Step, steps

D = TypeVar("D", bound=Detail)

Level = tuple[Phase[OltpDetail], metrics.Level]
"""A phase of transactions, and the metrics of its level."""

MEASURED = frozenset({"io", "load", "index", "dss", "oltp"})
"""Kinds of phases whose figures are a result."""


@dataclass(frozen=True)
class Case:
    """A bundle with its estimates, as the rules ask for them."""

    bundle: Bundle
    estimates: tuple[Estimate, ...]

    @classmethod
    def of(cls, bundle: Bundle, estimates: Iterable[Estimate]) -> Case:
        """The case of ``bundle``."""
        return cls(bundle, tuple(estimates))

    @cached_property
    def known(self) -> metrics.Estimates:
        """The same by their keys."""
        return metrics.Estimates(self.estimates)

    def estimate(self, key: metrics.Key) -> Estimate | None:
        """The estimate of a metric, if there is one."""
        return self.known.estimate(key)

    def value(self, key: metrics.Key) -> float | None:
        """Its value."""
        return self.known.value(key)

    def phases(self, *kinds: str) -> list[Phase]:
        """Phases of these kinds; of all measured kinds if none is named."""
        wanted = kinds or MEASURED
        return [phase for phase in self.bundle.run.phases if phase.kind in wanted]

    def phases_of(self, detail: type[D]) -> list[Phase[D]]:
        """Phases of the kind that tells such a detail."""
        return those(self.bundle.run.phases, detail)

    def levels(self) -> list[Level]:
        """Phases of transactions, each with its metrics.

        Of a search for the maximum only the windows of the maximum: that larger loads fail is what
        it looks for.
        """
        return self._levels([phase.detail.counted for phase in self.phases_of(SearchDetail)])

    @cached_property
    def steps(self) -> list[Step]:
        """All steps of storage profiles."""
        return steps(self.bundle)

    def told(self, step: Step) -> bool:
        """Whether a step belongs to what its curve is told by: the windows of its best load."""
        if step.load.by_rate:
            return self.value(step.curve_metrics.best_rate) == step.load.rate
        return self.value(step.curve_metrics.best_depth) == step.load.depth

    def phase_of(self, step: Step) -> Phase[IoDetail] | None:
        """The phase in which a step was measured."""
        return next((phase for phase in self.phases_of(IoDetail) if _holds(phase, step)), None)

    def steps_in(self, phase: Phase) -> list[Step]:
        """The steps that were measured in a phase."""
        return [step for step in self.steps if _holds(phase, step)]

    def curves(self, phase: Phase) -> list[Phase]:
        """A storage profile by its curves: the phase as if it had been of one only."""
        return [
            phase.model_copy(
                update={"name": f"{phase.name}/{name}", "title": f"{phase.title}, {name}"}
            )
            for name in metrics.Resources(phase.name).curves(self.known)
        ]

    def bounding(self) -> list[Level]:
        """The same, and of a search the windows of the smallest load that fails, too."""
        return self._levels([phase.detail.bounding for phase in self.phases_of(SearchDetail)])

    def _levels(self, kept: Sequence[Iterable[str] | None]) -> list[Level]:
        """All of them, or those that the searches name."""
        pairs = [(phase, metrics.Level(phase.detail.level)) for phase in self.phases_of(OltpDetail)]
        if not kept:
            return pairs
        names = [name for listed in kept for name in listed or ()]
        return [(phase, at) for phase, at in pairs if phase.detail.level in names]

    @cached_property
    def checks(self) -> list[Check]:
        """The proofs in the bundle.

        Raises:
            UsageError: If they cannot be read.
        """
        try:
            return self.bundle.checks()
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"checks.json of {self.bundle.path} is damaged: {reason}.") from error


def _holds(phase: Phase, step: Step) -> bool:
    """Whether a step began in a phase."""
    begun = phase.start_ns <= step.start_ns
    return begun and (phase.end_ns is None or step.start_ns < phase.end_ns)

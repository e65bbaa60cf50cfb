"""The input of the rules: a bundle and its estimates."""

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

MEASURED = frozenset({"io", "load", "index", "dss", "oltp", "certify"})
"""Kinds of phases that produce results."""


@dataclass(frozen=True)
class Case(metrics.FindsEstimates):
    """A bundle with its estimates, and lookups for the rules."""

    bundle: Bundle
    estimates: tuple[Estimate, ...]

    @classmethod
    def of(cls, bundle: Bundle, estimates: Iterable[Estimate]) -> Case:
        """The case of ``bundle``."""
        return cls(bundle, tuple(estimates))

    def phases(self, *kinds: str) -> list[Phase]:
        """Phases of these kinds; of all measured kinds by default."""
        wanted = kinds or MEASURED
        return [phase for phase in self.bundle.run.phases if phase.kind in wanted]

    def phases_of(self, detail: type[D]) -> list[Phase[D]]:
        """Phases with this type of detail."""
        return those(self.bundle.run.phases, detail)

    def levels(self) -> list[Level]:
        """Transaction phases, each with its metrics.

        In a search for the maximum only the windows at the maximum: larger loads fail by design.
        """
        return self._levels([phase.detail.counted for phase in self.phases_of(SearchDetail)])

    def judged(self) -> list[Level]:
        """Levels that limits judge: those of :meth:`levels`, and each of their databases."""
        names = {phase.detail.level for phase, _ in self.levels()}
        return [
            (phase, metrics.Level(phase.detail.level))
            for phase in self.phases_of(OltpDetail)
            if names & {phase.detail.level, phase.detail.part_of}
        ]

    @cached_property
    def steps(self) -> list[Step]:
        """All steps of storage profiles."""
        return steps(self.bundle)

    def is_best(self, step: Step) -> bool:
        """Whether a step is a window of its curve's best load."""
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
        """A copy of a storage phase for each of its curves."""
        return [
            phase.model_copy(
                update={"name": f"{phase.name}/{name}", "title": f"{phase.title}, {name}"}
            )
            for name in metrics.Resources(phase.name).curves(self.known)
        ]

    def span(self, at: metrics.Level) -> str:
        """Words after a metric of the driver whose time is longer than that of the level."""
        early = self.value(at.left_out_s)
        return " (including the time before throughput was steady)" if early else ""

    def bounding(self) -> list[Level]:
        """As ``levels``, with the windows of a search's smallest failing load."""
        return self._levels([phase.detail.bounding for phase in self.phases_of(SearchDetail)])

    def _levels(self, kept: Sequence[Iterable[str] | None]) -> list[Level]:
        """All levels, or those that the searches name."""
        pairs = [(phase, metrics.Level(phase.detail.level)) for phase in self.phases_of(OltpDetail)]
        if not kept:
            return pairs
        names = [name for listed in kept for name in listed or ()]
        return [(phase, at) for phase, at in pairs if phase.detail.level in names]

    @cached_property
    def checks(self) -> list[Check]:
        """The checks in the bundle.

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

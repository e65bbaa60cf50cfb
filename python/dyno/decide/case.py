"""What the rules look at: a bundle and the figures drawn from it."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from dyno.bundle.detail import Detail
from dyno.bundle.model import Check, Estimate, Phase, those
from dyno.bundle.phases.io import IoDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.phases.search import SearchDetail
from dyno.bundle.reader import Bundle
from dyno.errors import UsageError
from dyno.profiles.steps import Step, steps

D = TypeVar("D", bound=Detail)

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
    def _by_name(self) -> dict[str, Estimate]:
        return {figure.name: figure for figure in self.estimates}

    def figure(self, name: str) -> Estimate | None:
        """The estimate called ``name``, if there is one."""
        return self._by_name.get(name)

    @cached_property
    def _sorted_names(self) -> list[str]:
        return sorted(self._by_name)

    def between(self, start: str, end: str) -> list[str]:
        """What stands between ``start`` and ``end`` in names of estimates, sorted."""
        names = self._sorted_names
        found: list[str] = []
        for name in itertools.islice(names, bisect_left(names, start), None):
            if not name.startswith(start):
                break
            if name.endswith(end):
                found.append(name.removeprefix(start).removesuffix(end))
        return found

    def value(self, name: str) -> float | None:
        """Its value."""
        figure = self.figure(name)
        return None if figure is None else figure.value

    def phases(self, *kinds: str) -> list[Phase]:
        """Phases of these kinds; of all measured kinds if none is named."""
        wanted = kinds or MEASURED
        return [phase for phase in self.bundle.run.phases if phase.kind in wanted]

    def phases_of(self, detail: type[D]) -> list[Phase[D]]:
        """Phases of the kind that tells such a detail."""
        return those(self.bundle.run.phases, detail)

    def levels(self) -> list[tuple[Phase[OltpDetail], str]]:
        """Phases of transactions, each with the start of the names of its figures.

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
        start = f"{step.start}.{step.curve}"
        if step.load.by_rate:
            return self.value(f"{start}.best_rate") == step.load.rate
        return self.value(f"{start}.best_depth") == step.load.depth

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
            for name in self.between(f"resource.{phase.name}/", ".samples")
        ]

    def bounding(self) -> list[tuple[Phase[OltpDetail], str]]:
        """The same, and of a search the windows of the smallest load that fails, too."""
        return self._levels([phase.detail.bounding for phase in self.phases_of(SearchDetail)])

    def _levels(self, kept: Sequence[Iterable[str] | None]) -> list[tuple[Phase[OltpDetail], str]]:
        """All of them, or those that the searches name."""
        pairs = [(phase, f"oltp.{phase.detail.level}") for phase in self.phases_of(OltpDetail)]
        if not kept:
            return pairs
        names = [name for listed in kept for name in listed or ()]
        return [(phase, name) for phase, name in pairs if phase.detail.level in names]

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

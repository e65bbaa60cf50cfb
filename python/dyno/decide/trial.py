"""One window of a search for the maximum, judged as soon as it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dyno.criteria import Criterion
from dyno.decide.case import Case
from dyno.decide.criteria import result
from dyno.decide.validity.client_bound import signs
from dyno.decide.validity.unsteady import drift
from dyno.model import CriterionResult
from dyno.units import digits


@dataclass(frozen=True)
class Judged:
    """What a window came to.

    Attributes:
        results: Each limit against it.
        unsteady: How its throughput was not steady; empty if it was, or cannot be told.
        client_bound: What shows that the driver set the pace; empty if nothing does.
        strict: Whether a limit without data counts as broken.
    """

    results: tuple[CriterionResult, ...]
    unsteady: str
    client_bound: str
    strict: bool

    @property
    def passed(self) -> bool:
        """Whether all limits were kept, and one at least could be judged."""
        kept = [item.passed for item in self.results if self.strict or item.passed is not None]
        return bool(kept) and all(kept)

    @property
    def unjudged(self) -> list[CriterionResult]:
        """Limits without data."""
        return [item for item in self.results if item.passed is None]

    def words(self) -> str:
        """A few words for a line: what broke, or what came nearest."""
        broken = [item for item in self.results if item.passed is False] or list(self.results)
        parts = [
            f"{item.criterion.split(' ')[0]} {digits(item.value)} {item.unit}".rstrip()
            for item in broken
            if item.value is not None
        ]
        parts += [f"not steady ({self.unsteady})"] if self.unsteady else []
        parts += ["the driver was the bottleneck"] if self.client_bound else []
        return ", ".join(parts)


def trial(case: Case, level: str, limits: Sequence[Criterion], *, strict: bool) -> Judged:
    """Judges the level of a run that goes on, from figures drawn of it alone."""
    name = f"oltp.{level}"
    phase = next(one for one in case.phases("oltp") if one.detail.get("level") == level)
    seen = drift(case, name)
    return Judged(
        tuple(result(case, level, limit) for limit in limits),
        seen.words if seen is not None and seen.level == "invalid" else "",
        ", ".join(signs(case, phase, name).values()),
        strict,
    )
